// SPDX-License-Identifier: Apache-2.0
//
// A folder of its own for one test, removed with everything in it when the test ends.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace fdbpack::test {

class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] std::string path(std::string_view name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// The whole file; empty when it cannot be read.
[[nodiscard]] std::string read_file(const std::string& path);
// In place: truncates and writes, as an editor or a shell does.
void write_file(const std::string& path, std::string_view text);
// Aside and renamed over, so that no reader sees a part.
void replace_file(const std::string& path, std::string_view text);

}  // namespace fdbpack::test
