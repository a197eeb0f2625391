// SPDX-License-Identifier: Apache-2.0
//
// Reading small files of /proc. Whoever decides by what is not there has to know whether it is not
// there or could not be looked at.
#pragma once

#include "adapters/posix/fd.hpp"
#include "fdbpack/base/text.hpp"

#include <fcntl.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fdbpack::posix {

struct ProcText {
  std::string text;
  int error_number = 0;  // of opening or reading it

  explicit operator bool() const { return error_number == 0; }
};

[[nodiscard]] inline ProcText read_proc(const std::string& path) {
  constexpr std::size_t kReadMax = 1024 * 1024;  // an environment may be long
  ProcText result;
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    result.error_number = errno;
    return result;
  }
  std::array<char, 4096> buffer;
  while (result.text.size() < kReadMax) {
    const ssize_t size = ::read(file.get(), buffer.data(), buffer.size());
    if (size < 0) result.error_number = errno;
    if (size <= 0) break;
    result.text.append(buffer.data(), static_cast<std::size_t>(size));
  }
  return result;
}

// It says nothing about what was asked for: we, or the machine, lack what it takes to ask.
[[nodiscard]] inline bool is_shortage(int error_number) {
  return error_number == EMFILE || error_number == ENFILE || error_number == ENOMEM;
}

// The fields of PID/stat behind the name, which may hold anything: state, parent, group, ...
[[nodiscard]] inline std::vector<std::string_view> stat_fields(std::string_view stat) {
  const auto name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) return {};
  return text::split_words(stat.substr(name_end + 1));
}

}  // namespace fdbpack::posix
