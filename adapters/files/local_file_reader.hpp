// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ports/file_reader.hpp"

#include <cstddef>

namespace fdbpack::adapters {

class LocalFileReader final : public ports::FileReader {
 public:
  static constexpr std::size_t kFileBytesMax = 16u << 20;

  Result<std::string> read(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& directory) override;
};

}  // namespace fdbpack::adapters
