// SPDX-License-Identifier: Apache-2.0
//
// Small things done to text in several places. ASCII only and independent of the locale.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fdbpack::text {

[[nodiscard]] constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
[[nodiscard]] constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
[[nodiscard]] constexpr bool is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

[[nodiscard]] std::string_view trim(std::string_view text);
[[nodiscard]] std::string to_lower(std::string_view text);
[[nodiscard]] std::string replace_all(std::string_view text, std::string_view from,
                                      std::string_view to);

// "a,,b" split at ',' is "a", "", "b"; "" is one empty part.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);
// Runs of blanks separate words; there are no empty words.
[[nodiscard]] std::vector<std::string_view> split_words(std::string_view text);
[[nodiscard]] std::string join(const std::vector<std::string>& parts, std::string_view separator);

// The whole text is a decimal number without sign, blanks or overflow.
[[nodiscard]] std::optional<std::uint64_t> parse_decimal(std::string_view text);

// Orders and compares ASCII letters without regard to case.
[[nodiscard]] int compare_ignoring_case(std::string_view a, std::string_view b);

struct IgnoreCaseLess {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const {
    return compare_ignoring_case(a, b) < 0;
  }
};

}  // namespace fdbpack::text
