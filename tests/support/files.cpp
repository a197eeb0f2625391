// SPDX-License-Identifier: Apache-2.0
#include "tests/support/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace fdbpack::test {

// Not by a stream: a process that ends while its file in /proc is read makes read() fail with
// ESRCH, and a stream buffer throws for that.
std::string read_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return "";
  std::string text;
  std::array<char, 64 * 1024> part{};
  ssize_t count = 0;
  while ((count = ::read(file, part.data(), part.size())) > 0) {
    text.append(part.data(), static_cast<std::size_t>(count));
  }
  ::close(file);
  return count < 0 ? "" : text;
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
