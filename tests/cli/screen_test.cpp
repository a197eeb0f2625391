// SPDX-License-Identifier: Apache-2.0
//
// Text on its way to a terminal.
#include "cli/screen.hpp"

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
  EXPECT_EQ(printable("\xC2"), "\xC2");
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
