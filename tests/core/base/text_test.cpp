// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/base/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fdbpack::text {
namespace {

using testing::ElementsAre;

TEST(Text, TrimsBlanksAtBothEnds) {
  EXPECT_EQ(trim(" \t a b \r\n"), "a b");
  EXPECT_EQ(trim(" \v\f "), "");
}

TEST(Text, ReplacesEveryOccurrenceOnceAndNeverLoops) {
  EXPECT_EQ(replace_all("$ID-$ID", "$ID", "x$ID"), "x$ID-x$ID");
  EXPECT_EQ(replace_all("abc", "", "x"), "abc");
}

TEST(Text, SplitsKeepingEmptyParts) {
  EXPECT_THAT(split("a,,b", ','), ElementsAre("a", "", "b"));
  EXPECT_THAT(split("", ','), ElementsAre(""));
  EXPECT_THAT(split_words("  a \t b  "), ElementsAre("a", "b"));
  EXPECT_THAT(split_words("  "), ElementsAre());
}

TEST(Text, ParsesOnlyWholeUnsignedDecimals) {
  EXPECT_EQ(parse_decimal("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(parse_decimal("18446744073709551616"), std::nullopt);
  EXPECT_EQ(parse_decimal("60s"), std::nullopt);
  EXPECT_EQ(parse_decimal("-1"), std::nullopt);
  EXPECT_EQ(parse_decimal(" 1"), std::nullopt);
  EXPECT_EQ(parse_decimal(""), std::nullopt);
}

TEST(Text, ComparesWithoutCaseInByteOrder) {
  EXPECT_LT(compare_ignoring_case("b-a", "B0"), 0);
  EXPECT_LT(compare_ignoring_case("B0", "b_c"), 0);
  EXPECT_LT(compare_ignoring_case("b_c", "bz"), 0);
  EXPECT_EQ(compare_ignoring_case("AbC", "aBc"), 0);
  EXPECT_LT(compare_ignoring_case("ab", "abc"), 0);
}

}  // namespace
}  // namespace fdbpack::text
