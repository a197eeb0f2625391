// SPDX-License-Identifier: Apache-2.0
//
// Users and groups by name.
#pragma once

#include "fdbpack/base/result.hpp"
#include "ports/launcher.hpp"

#include <string>

namespace fdbpack::ports {

class Accounts {
 public:
  virtual ~Accounts() = default;
  // Empty names mean the agent's own. May ask a name service and block: only for new confs.
  [[nodiscard]] virtual Result<Identity> look_up(const std::string& user,
                                                 const std::string& group) = 0;
};

}  // namespace fdbpack::ports
