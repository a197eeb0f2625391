// SPDX-License-Identifier: Apache-2.0
//
// Programs and libraries: copying them, and whether one can be run.
#pragma once

#include "fdbpack/base/result.hpp"

#include <string>

namespace fdbpack::ports {

class FileCopier {
 public:
  virtual ~FileCopier() = default;

  // Readers of `target` see what was there before or the whole copy, with the mode of `source`,
  // even after a power failure. The directories above it are made. Nothing is left behind by a
  // copy that fails. An empty file is an error if `must_have_content`.
  [[nodiscard]] virtual Status copy(const std::string& source, const std::string& target,
                                    bool must_have_content) = 0;
  // It is there and its owner may execute it.
  [[nodiscard]] virtual Status check_executable(const std::string& path) = 0;
};

}  // namespace fdbpack::ports
