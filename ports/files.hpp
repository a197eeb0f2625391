// SPDX-License-Identifier: Apache-2.0
//
// Small files, read and replaced whole, and word of their changes.
#pragma once

#include "fdbpack/base/result.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace fdbpack::ports {

class Files {
 public:
  virtual ~Files() = default;

  // At most `bytes_max`; a longer file is an error, as is one that is not a regular file.
  [[nodiscard]] virtual Result<std::string> read(const std::string& path,
                                                 std::size_t bytes_max) = 0;
  // Readers see the old text or the new, never a part. `mode` as in open(2).
  [[nodiscard]] virtual Status replace(const std::string& path, std::string_view text,
                                       unsigned mode) = 0;
  // The directory and those above it that are missing.
  [[nodiscard]] virtual Status make_directories(const std::string& path, unsigned mode) = 0;
  // The network file system that the path is on, "nfs4 at /mnt", as far as this can be told without
  // touching it; empty: none.
  [[nodiscard]] virtual std::string network_file_system(const std::string& path) = 0;
};

// Tells when a file may have changed, through whatever symbolic links its path leads. Several
// changes in quick succession are told once, when they are over.
class FileWatch {
 public:
  virtual ~FileWatch() = default;
  // Changes are noticed by looking from time to time only.
  [[nodiscard]] virtual bool is_degraded() const = 0;
};

using OnFileChange = std::function<void()>;

}  // namespace fdbpack::ports
