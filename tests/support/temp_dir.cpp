// SPDX-License-Identifier: Apache-2.0
#include "tests/support/temp_dir.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

namespace fdbpack::test {

TempDir::TempDir() {
  std::string name = (std::filesystem::temp_directory_path() / "fdbpack-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed: " + name);
  path_ = name;
  // Children of other users report here, too.
  std::filesystem::permissions(path_, std::filesystem::perms::all);
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_file(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

void replace_file(const std::string& path, std::string_view text) {
  write_file(path + ".new", text);
  if (std::rename((path + ".new").c_str(), path.c_str()) != 0) {
    throw std::runtime_error("cannot rename to " + path);
  }
}

}  // namespace fdbpack::test
