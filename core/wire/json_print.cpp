// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/base/check.hpp"
#include "fdbpack/base/overloaded.hpp"
#include "fdbpack/wire/json_value.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace fdbpack::wire {
namespace {

// The length of the UTF-8 character at the front of `text`, or 0 when there is none (RFC 3629,
// section 4).
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned first = byte(0);
  const unsigned second = byte(1);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool is_overlong = first == 0xE0 && second < 0xA0;
    const bool is_surrogate = first == 0xED && second > 0x9F;
    return continues(1) && continues(2) && !is_overlong && !is_surrogate ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool is_overlong = first == 0xF0 && second < 0x90;
    const bool is_beyond = first == 0xF4 && second > 0x8F;
    return continues(1) && continues(2) && continues(3) && !is_overlong && !is_beyond ? 4 : 0;
  }
  return 0;
}

void print_control(std::string& out, unsigned char c) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  switch (c) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  out += "\\u00";
  out += kDigits[c >> 4];
  out += kDigits[c & 0xF];
}

void print_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const auto c = static_cast<unsigned char>(text.front());
    const std::size_t length = character_length(text);
    if (length == 0) {
      out += "\xEF\xBF\xBD";  // U+FFFD
    } else if (c < 0x20) {
      print_control(out, c);
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  out += '"';
}

template <class Number>
void print_number(std::string& out, Number number) {
  std::array<char, 32> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  FDBPACK_CHECK(error == std::errc());
  out.append(buffer.data(), end);
}

class Printer {
 public:
  explicit Printer(JsonLayout layout) : is_indented_(layout == JsonLayout::indented) {}

  void print(const JsonValue& value) {
    std::visit(Overloaded{[&](std::monostate) { out_ += "null"; },
                          [&](bool flag) { out_ += flag ? "true" : "false"; },
                          [&](std::int64_t number) { print_number(out_, number); },
                          [&](double number) {
                            FDBPACK_CHECK(std::isfinite(number));
                            print_number(out_, number);
                          },
                          [&](const std::string& text) { print_string(out_, text); },
                          [&](const JsonValue::Array& items) {
                            print_all('[', ']', items, [&](const JsonValue& item) { print(item); });
                          },
                          [&](const JsonValue::Object& members) {
                            print_all('{', '}', members, [&](const auto& member) {
                              print_string(out_, member.first);
                              out_ += is_indented_ ? ": " : ":";
                              print(member.second);
                            });
                          }},
               value.data);
  }

  [[nodiscard]] std::string take() {
    if (is_indented_) out_ += '\n';
    return std::move(out_);
  }

 private:
  template <class Parts, class PrintPart>
  void print_all(char open, char close, const Parts& parts, PrintPart print_part) {
    out_ += open;
    ++level_;
    for (const auto& part : parts) {
      if (&part != &parts.front()) out_ += ',';
      new_line();
      print_part(part);
    }
    --level_;
    if (!parts.empty()) new_line();
    out_ += close;
  }

  void new_line() {
    if (!is_indented_) return;
    out_ += '\n';
    out_.append(2 * level_, ' ');
  }

  bool is_indented_;
  std::size_t level_ = 0;
  std::string out_;
};

// Names that need no quotes in a path.
bool is_simple_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

}  // namespace

std::string print_json(const JsonValue& value, JsonLayout layout) {
  Printer printer(layout);
  printer.print(value);
  return printer.take();
}

std::string member_path(std::string_view path, std::string_view name) {
  std::string result(path);
  if (is_simple_name(name)) return result.append(".").append(name);
  result += '[';
  print_string(result, name);
  return result += ']';
}

std::string item_path(std::string_view path, std::size_t index) {
  return std::string(path) + "[" + std::to_string(index) + "]";
}

std::string to_string(const Violations& violations) {
  std::string result;
  for (const auto& violation : violations) {
    if (!result.empty()) result += '\n';
    result += violation.path + ": " + violation.message;
  }
  return result;
}

}  // namespace fdbpack::wire
