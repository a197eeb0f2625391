// SPDX-License-Identifier: Apache-2.0
#include "cli/screen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace fdbpack::cli {
namespace {

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

// Bytes of the character that the text begins with; 0 when it begins with no UTF-8 character.
// Longer forms of a character than needed, surrogates and numbers beyond U+10FFFF are none.
std::size_t character_size(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80U) return 1;
  const std::size_t size = first < 0xC2U   ? 0
                           : first < 0xE0U ? 2
                           : first < 0xF0U ? 3
                           : first < 0xF5U ? 4
                                           : 0;
  if (size == 0 || text.size() < size) return 0;
  const unsigned char low = first == 0xE0U ? 0xA0U : first == 0xF0U ? 0x90U : 0x80U;
  const unsigned char high = first == 0xEDU ? 0x9FU : first == 0xF4U ? 0x8FU : 0xBFU;
  if (byte(1) < low || byte(1) > high) return 0;
  const std::string_view rest = text.substr(2, size - 2);
  return std::all_of(rest.begin(), rest.end(), is_continuation) ? size : 0;
}

// U+0080 to U+009F are control characters too: xterm takes C2 9B for ESC [.
bool is_c1(std::string_view character) {
  return character.size() == 2 && character[0] == '\xC2' &&
         static_cast<unsigned char>(character[1]) < 0xA0U;
}

bool knows_sequences(const char* term) {
  return term != nullptr && *term != '\0' && std::string_view(term) != "dumb";
}

std::string styled(std::string_view code, std::string_view text, bool has_colour) {
  return has_colour ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(size, 1));
    const auto byte = static_cast<unsigned char>(character.back());
    const bool is_control = size == 0 || is_c1(character) || byte < 0x20U || byte == 0x7FU;
    out += is_control ? fmt::format("\\x{:02x}", byte) : std::string(character);
    text.remove_prefix(character.size());
  }
  return out;
}

std::string_view cut(std::string_view text, std::size_t columns) {
  std::size_t end = 0;
  for (std::size_t used = 0; end < text.size(); ++end) {
    if (!is_continuation(text[end]) && ++used > columns) break;
  }
  return text.substr(0, end);
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
  return is_terminal && !is_refused && knows_sequences(term);
}

bool has_progress(bool is_terminal, const char* term) {
  return is_terminal && knows_sequences(term);
}

std::size_t columns_of(const char* variable, unsigned reported) {
  const std::string_view text = variable == nullptr ? "" : variable;
  std::size_t columns = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (is_number && columns > 0) return columns;
  return reported > 0 ? reported : kPageWidth;
}

}  // namespace fdbpack::cli
