// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ports/file_copier.hpp"

namespace fdbpack::posix {

// A file of another name in the target's directory, synced, renamed over the target, and then the
// directory synced. Files of that other name that a killed run left behind are removed.
class PosixFileCopier final : public ports::FileCopier {
 public:
  [[nodiscard]] Status copy(const std::string& source, const std::string& target,
                            bool must_have_content) override;
  [[nodiscard]] Status check_executable(const std::string& path) override;
};

}  // namespace fdbpack::posix
