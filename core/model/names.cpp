// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/model/names.hpp"

#include "fdbpack/base/text.hpp"

#include <algorithm>

namespace fdbpack::model {
namespace {

constexpr std::size_t kLabelBytesMax = 63;
constexpr std::size_t kHostNameBytesMax = 253;

constexpr bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
constexpr bool is_letter(char c) {
  return is_lower(text::lower(c));
}
constexpr bool is_alnum(char c) {
  return is_letter(c) || text::is_digit(c);
}

bool is_host_label(std::string_view label) {
  const auto allowed = [](char c) { return is_alnum(c) || c == '-' || c == '_'; };
  return !label.empty() && label.size() <= kLabelBytesMax && label.front() != '-' &&
         label.back() != '-' && std::all_of(label.begin(), label.end(), allowed);
}

bool is_label_word(std::string_view text) {
  const auto allowed = [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; };
  return !text.empty() && text.size() <= kLabelBytesMax && is_alnum(text.front()) &&
         is_alnum(text.back()) && std::all_of(text.begin(), text.end(), allowed);
}

}  // namespace

bool is_dns_label(std::string_view text) {
  const auto allowed = [](char c) { return is_lower(c) || text::is_digit(c) || c == '-'; };
  return is_host_label(text) && std::all_of(text.begin(), text.end(), allowed);
}

bool is_host_name(std::string_view text) {
  if (text.empty() || text.size() > kHostNameBytesMax) return false;
  if (text.back() == '.') text.remove_suffix(1);
  const auto labels = text::split(text, '.');
  return std::all_of(labels.begin(), labels.end(), is_host_label) &&
         !std::all_of(labels.back().begin(), labels.back().end(), text::is_digit);
}

bool is_variable_name(std::string_view text) {
  const auto allowed = [](char c) { return is_alnum(c) || c == '_'; };
  return !text.empty() && !text::is_digit(text.front()) &&
         std::all_of(text.begin(), text.end(), allowed);
}

bool is_label_key(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return is_label_word(text);
  return is_host_name(text.substr(0, slash)) && is_label_word(text.substr(slash + 1));
}

bool is_label_value(std::string_view text) {
  return text.empty() || is_label_word(text);
}

bool is_plain_line(std::string_view text, std::size_t bytes_max) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  return text.size() <= bytes_max && text == text::trim(text) &&
         std::none_of(text.begin(), text.end(), is_control);
}

}  // namespace fdbpack::model
