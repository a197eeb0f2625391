// SPDX-License-Identifier: Apache-2.0
//
// What text for people needs on its way to a terminal: names that cannot steer it, and colour where
// there is somebody to see it.
#pragma once

#include "cli/table.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fdbpack::cli {

// Names come from files that others wrote. Control characters are shown as \x1b, so that none of
// them moves the cursor, sets a colour or forges a line. So are bytes that are no UTF-8: a terminal
// may take a lone 9B for ESC [. Other UTF-8 passes as it is.
[[nodiscard]] std::string printable(std::string_view text);
// Columns a terminal needs for UTF-8 text: characters, not bytes.
[[nodiscard]] std::size_t width(std::string_view text);
// As much of the text as fits so many columns.
[[nodiscard]] std::string_view cut(std::string_view text, std::size_t columns);

inline constexpr std::size_t kPageWidth = 80;

// Where text goes to. Without a terminal all functions return their text unchanged.
struct Screen {
  bool has_colour = false;
  bool has_progress = false;  // somebody watches standard error
  std::size_t columns = kPageWidth;

  [[nodiscard]] std::string heading(std::string_view text) const;  // of a table
  [[nodiscard]] std::string good(std::string_view text) const;
  [[nodiscard]] std::string bad(std::string_view text) const;
};

// Text for people, line by line. Everything that is added is made printable first, so the only
// control sequences in it are the screen's own.
class Page {
 public:
  explicit Page(Screen screen) : screen_(screen) {}

  void line(std::string_view text) { text_ += printable(text) + "\n"; }
  void good(std::string_view text) { text_ += screen_.good(printable(text)) + "\n"; }
  void bad(std::string_view text) { text_ += screen_.bad(printable(text)) + "\n"; }
  void blank() { text_ += "\n"; }
  // Words that go on in further lines, each indented, within kPageWidth columns.
  void wrapped(std::string_view first, const std::vector<std::string>& words);
  void table(const Table& table);

  [[nodiscard]] bool empty() const { return text_.empty(); }
  [[nodiscard]] std::string text() && { return std::move(text_); }

 private:
  Screen screen_;
  std::string text_;
};

// Colour is for a terminal that can show it and whose owner did not refuse it
// (https://no-color.org: NO_COLOR set to anything but nothing). Null: the variable is not set.
[[nodiscard]] bool has_colour(bool is_terminal, const char* no_color, const char* term);
// A progress line is for a terminal that can erase it.
[[nodiscard]] bool has_progress(bool is_terminal, const char* term);
// Of COLUMNS, then what the terminal reports (0: nothing), then kPageWidth.
[[nodiscard]] std::size_t columns_of(const char* variable, unsigned reported);

}  // namespace fdbpack::cli
