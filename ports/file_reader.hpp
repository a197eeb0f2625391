// SPDX-License-Identifier: Apache-2.0
//
// Reading files that a person named, whole and at once.
#pragma once

#include "fdbpack/base/result.hpp"

#include <string>
#include <vector>

namespace fdbpack::ports {

class FileReader {
 public:
  virtual ~FileReader() = default;

  // The content of a file; "-" is standard input. Files over a size that no file of ours has are
  // refused.
  [[nodiscard]] virtual Result<std::string> read(const std::string& path) = 0;

  // The names of the files in a folder, sorted, without those that begin with a dot.
  [[nodiscard]] virtual Result<std::vector<std::string>> list(const std::string& directory) = 0;
};

}  // namespace fdbpack::ports
