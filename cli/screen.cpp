// SPDX-License-Identifier: Apache-2.0
#include "cli/screen.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fdbpack::cli {
namespace {

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

// U+0080 to U+009F are control characters too: xterm takes C2 9B for ESC [.
bool is_c1(std::string_view rest) {
  return rest.size() > 1 && rest[0] == '\xC2' && static_cast<unsigned char>(rest[1]) >= 0x80U &&
         static_cast<unsigned char>(rest[1]) < 0xA0U;
}

std::string styled(std::string_view code, std::string_view text, bool has_colour) {
  return has_colour ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_pair = is_c1(text.substr(i));
    if (is_pair) ++i;
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool is_control = is_pair || byte < 0x20U || byte == 0x7FU;
    out += is_control ? fmt::format("\\x{:02x}", byte) : std::string(1, text[i]);
  }
  return out;
}

std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(c); }));
}

std::string Screen::heading(std::string_view text) const {
  return styled("1", text, has_colour);
}
std::string Screen::good(std::string_view text) const {
  return styled("32", text, has_colour);
}
std::string Screen::bad(std::string_view text) const {
  return styled("31", text, has_colour);
}

void Page::wrapped(std::string_view first, const std::vector<std::string>& words) {
  std::string line = printable(first);
  for (const std::string& word : words) {
    const std::string next = printable(word);
    if (width(line) + 1 + width(next) > kPageWidth) {
      text_ += line + "\n";
      line = "   ";
    }
    line += " " + next;
  }
  text_ += line + "\n";
}

void Page::table(const Table& table) {
  if (table.empty()) return;
  const std::string all = table.text();
  const std::size_t end = all.find('\n');
  text_ += screen_.heading(std::string_view(all).substr(0, end)) + all.substr(end);
}

bool has_colour(bool is_terminal, const char* no_color, const char* term) {
  const bool is_refused = no_color != nullptr && *no_color != '\0';
  const bool is_plain = term == nullptr || *term == '\0' || std::string_view(term) == "dumb";
  return is_terminal && !is_refused && !is_plain;
}

}  // namespace fdbpack::cli
