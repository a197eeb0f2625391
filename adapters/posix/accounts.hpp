// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ports/accounts.hpp"

namespace fdbpack::posix {

class PosixAccounts final : public ports::Accounts {
 public:
  [[nodiscard]] Result<ports::Identity> look_up(const std::string& user,
                                                const std::string& group) override;
};

}  // namespace fdbpack::posix
