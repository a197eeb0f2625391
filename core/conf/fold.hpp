// SPDX-License-Identifier: Apache-2.0
//
// How the library behind fdbmonitor compares section and key names: ASCII letters without case,
// bytes as signed characters, so that a name with other letters sorts before the ASCII ones. The
// order of arguments hangs on it.
#pragma once

#include "fdbpack/base/text.hpp"

#include <algorithm>
#include <string_view>

namespace fdbpack::conf {

struct NameLess {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
      return static_cast<signed char>(text::lower(x)) < static_cast<signed char>(text::lower(y));
    });
  }
};

[[nodiscard]] inline bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && text::compare_ignoring_case(a, b) == 0;
}

}  // namespace fdbpack::conf
