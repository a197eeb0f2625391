// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/wire/json_writer.hpp"

#include "fdbpack/base/check.hpp"

#include <array>
#include <charconv>

namespace fdbpack::wire {
namespace {

// How many bytes of `text`, from its beginning, make one UTF-8 character; 0: none do.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto is_continuation = [&](std::size_t i) {
    return i < text.size() && (byte(i) & 0xC0u) == 0x80u;
  };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return is_continuation(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (!is_continuation(1) || !is_continuation(2)) return 0;
    if (first == 0xE0 && byte(1) < 0xA0) return 0;  // overlong
    if (first == 0xED && byte(1) > 0x9F) return 0;  // surrogates
    return 3;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    if (!is_continuation(1) || !is_continuation(2) || !is_continuation(3)) return 0;
    if (first == 0xF0 && byte(1) < 0x90) return 0;  // overlong
    if (first == 0xF4 && byte(1) > 0x8F) return 0;  // above U+10FFFF
    return 4;
  }
  return 0;
}

void append_escaped(std::string& to, unsigned char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '"':
      to += "\\\"";
      return;
    case '\\':
      to += "\\\\";
      return;
    case '\n':
      to += "\\n";
      return;
    case '\r':
      to += "\\r";
      return;
    case '\t':
      to += "\\t";
      return;
    default:
      to += "\\u00";
      to += kHex[c >> 4u];
      to += kHex[c & 15u];
  }
}

template <class Number>
void append_number(std::string& to, Number number) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  to.append(digits.data(), end);
}

}  // namespace

void append_json_string(std::string& to, std::string_view text) {
  to += '"';
  while (!text.empty()) {
    const auto c = static_cast<unsigned char>(text.front());
    if (c < 0x20 || c == '"' || c == '\\' || c == 0x7F) {
      append_escaped(to, c);
      text.remove_prefix(1);
      continue;
    }
    const std::size_t length = utf8_length(text);
    if (length == 0) {
      to += "\xEF\xBF\xBD";
      text.remove_prefix(1);
    } else {
      to.append(text.substr(0, length));
      text.remove_prefix(length);
    }
  }
  to += '"';
}

void JsonWriter::separate() {
  if (needs_comma_) text_ += ',';
  needs_comma_ = true;
}

JsonWriter& JsonWriter::begin_object() {
  separate();
  text_ += '{';
  ++depth_;
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::end_object() {
  FDBPACK_CHECK(depth_ > 0);
  text_ += '}';
  --depth_;
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::begin_array() {
  separate();
  text_ += '[';
  ++depth_;
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::end_array() {
  FDBPACK_CHECK(depth_ > 0);
  text_ += ']';
  --depth_;
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  append_json_string(text_, name);
  text_ += ':';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  separate();
  append_json_string(text_, text);
  return *this;
}

JsonWriter& JsonWriter::value(bool flag) {
  separate();
  text_ += flag ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::value(std::int64_t number) {
  separate();
  append_number(text_, number);
  return *this;
}

JsonWriter& JsonWriter::value(std::uint64_t number) {
  separate();
  append_number(text_, number);
  return *this;
}

JsonWriter& JsonWriter::null() {
  separate();
  text_ += "null";
  return *this;
}

std::string JsonWriter::text() && {
  FDBPACK_CHECK(depth_ == 0);
  return std::move(text_);
}

}  // namespace fdbpack::wire
