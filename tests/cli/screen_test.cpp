// SPDX-License-Identifier: Apache-2.0
//
// Text on its way to a terminal.
#include "cli/screen.hpp"

#include "cli/progress.hpp"

#include <gtest/gtest.h>

namespace fdbpack::cli {
namespace {

TEST(Screen, ControlCharactersAreShownAndNotSent) {
  EXPECT_EQ(printable("db-1"), "db-1");
  EXPECT_EQ(printable("\x1b[31mdb\a\n\x7f"), "\\x1b[31mdb\\x07\\x0a\\x7f");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\\x9b31m");                                     // ESC [ as one character
  EXPECT_EQ(printable("M\xC3\xBCnchen"), "M\xC3\xBCnchen");  // other UTF-8 stays
}

TEST(Screen, BytesThatAreNoCharacterAreShownAndNotSent) {
  EXPECT_EQ(printable("\x9B"
                      "31m"),
            "\\x9b31m");                           // ESC [ as one byte
  EXPECT_EQ(printable("\xC2"), "\\xc2");           // cut off
  EXPECT_EQ(printable("\xE2\x82"), "\\xe2\\x82");  // cut off
  EXPECT_EQ(printable("\xC3("), "\\xc3(");
  EXPECT_EQ(printable("\xC0\x9B"), "\\xc0\\x9b");                    // longer than needed
  EXPECT_EQ(printable("\xE0\x82\x9B"), "\\xe0\\x82\\x9b");           // longer than needed
  EXPECT_EQ(printable("\xED\xA0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(printable("\xF4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond U+10FFFF
  for (const char* whole :
       {"\xC2\xA0", "\xE2\x82\xAC", "\xED\x9F\xBF", "\xF0\x9F\x98\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(printable(whole), whole);
  }
}

TEST(Screen, ProgressIsForTerminalsThatCanEraseIt) {
  EXPECT_TRUE(has_progress(true, "xterm"));
  EXPECT_FALSE(has_progress(false, "xterm"));
  EXPECT_FALSE(has_progress(true, "dumb"));
  EXPECT_FALSE(has_progress(true, ""));
  EXPECT_FALSE(has_progress(true, nullptr));
}

TEST(Screen, WidthIsOfTheVariableThenOfTheTerminal) {
  EXPECT_EQ(columns_of("120", 60), 120u);
  EXPECT_EQ(columns_of(nullptr, 60), 60u);
  for (const char* bad : {"", "0", "-5", "wide", "12x", "99999999999999999999999"})
    EXPECT_EQ(columns_of(bad, 60), 60u) << bad;
  EXPECT_EQ(columns_of(nullptr, 0), kPageWidth);
}

TEST(Progress, LinesAreCutToTheWidthOfTheTerminal) {
  EXPECT_EQ(Progress::line("balance", "12 moves", 80), "\rbalance: 12 moves\x1b[K");
  EXPECT_EQ(Progress::line("balance", "12 moves", 11), "\rbalance: 1\x1b[K");
  EXPECT_EQ(Progress::line("M\xC3\xBCnchen", "\x1b", 4), "\rM\xC3\xBCn\x1b[K");
  EXPECT_EQ(Progress::line("balance", "12 moves", 1), "\r\x1b[K");
}

TEST(Screen, ColourIsForTerminalsOfPeopleWhoWantIt) {
  EXPECT_TRUE(has_colour(true, nullptr, "xterm"));
  EXPECT_TRUE(has_colour(true, "", "xterm"));
  EXPECT_FALSE(has_colour(true, "1", "xterm"));
  EXPECT_FALSE(has_colour(false, nullptr, "xterm"));
  EXPECT_FALSE(has_colour(true, nullptr, "dumb"));
  EXPECT_FALSE(has_colour(true, nullptr, nullptr));
}

TEST(Screen, PagesEscapeTheirTextAndKeepTheirColours) {
  Page plain(Screen{false});
  plain.bad("a\x1b");
  EXPECT_EQ(std::move(plain).text(), "a\\x1b\n");
  Page coloured(Screen{true});
  coloured.bad("a\x1b");
  Table table({"HOST", "NOTE", "N"});
  table.add({"h\n1", "-", "7"});
  coloured.table(table);
  EXPECT_EQ(std::move(coloured).text(),
            "\x1b[31ma\\x1b\x1b[0m\n\x1b[1mHOST    N\x1b[0m\nh\\x0a1  7\n");
}

TEST(Screen, LongListsAreWrapped) {
  Page page(Screen{});
  page.wrapped("hosts:", std::vector<std::string>(30, "db-1"));
  const std::string text = std::move(page).text();
  std::size_t lines = 0;
  for (std::size_t begin = 0; begin < text.size(); ++lines) {
    const std::size_t end = text.find('\n', begin);
    EXPECT_LE(end - begin, kPageWidth);
    begin = end + 1;
  }
  EXPECT_EQ(lines, 3u);
}

TEST(Table, ColumnsAreAlignedByCharactersAndEmptyOnesLeftOut) {
  Table table({"NAME", "GIB", "NOTE"});
  table.add({"M\xC3\xBCnchen", "1.5", ""});
  table.add({"Bonn", "22.0", "-"});
  EXPECT_EQ(table.text(), "NAME      GIB\nM\xC3\xBCnchen   1.5\nBonn     22.0\n");
}

}  // namespace
}  // namespace fdbpack::cli
