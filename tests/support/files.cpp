// SPDX-License-Identifier: Apache-2.0
#include "tests/support/files.hpp"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace fdbpack::test {

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
