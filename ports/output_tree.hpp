// SPDX-License-Identifier: Apache-2.0
//
// A directory that files are brought to, and looked at by names that strangers chose.
//
// No name leads out of it, through "..", symbolic links or otherwise: such a name fails with
// permission_denied. A file that is not there is not_found; everything else is unavailable. Calls
// block, and may come from several threads at once.
#pragma once

#include "fdbpack/base/result.hpp"

#include <atomic>
#include <optional>
#include <string>
#include <string_view>

namespace fdbpack::ports {

struct CopyRequest {
  std::string source;            // any path; symbolic links are followed
  std::string target;            // below the directory; folders that are missing are made
  std::optional<unsigned> mode;  // none: the source's
  bool keeps_same = false;       // a target with this content and mode is left alone
};

class OutputTree {
 public:
  virtual ~OutputTree() = default;

  // SHA-256 of a file as 64 hexadecimal digits. Ends early, as unavailable, when it is not wanted
  // any more.
  [[nodiscard]] virtual Result<std::string> hash(const std::string& path,
                                                 const std::atomic<bool>& is_unwanted) = 0;
  // Of a file or a directory.
  [[nodiscard]] virtual Result<bool> exists(const std::string& path) = 0;

  // Whole and on disk when the call returns, or as it was before: readers, a crash and a power
  // failure find the old file or the new one.
  [[nodiscard]] virtual Status copy(const CopyRequest& request) = 0;
  [[nodiscard]] virtual Status write(const std::string& path, std::string_view text,
                                     unsigned mode) = 0;
};

}  // namespace fdbpack::ports
