// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/base/random.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace fdbpack {
namespace {

TEST(Random, GivesTheSameNumbersForTheSameSeedOnEveryMachine) {
  Random random(42);
  EXPECT_EQ(random.next(), 0xBDD732262FEB6E95u);
  EXPECT_EQ(random.next(), 0x28EFE333B266F103u);
}

TEST(Random, BelowStaysBelowItsBoundAndReachesEveryValue) {
  Random random(1);
  unsigned seen = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t value = random.below(7);
    ASSERT_LT(value, 7u);
    seen |= 1u << value;
  }
  EXPECT_EQ(seen, 0x7Fu);
}

TEST(Random, BetweenIncludesBothEndsAndTakesTheWholeRange) {
  Random random(2);
  bool low = false;
  bool high = false;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t value = random.between(-2, 2);
    ASSERT_GE(value, -2);
    ASSERT_LE(value, 2);
    low |= value == -2;
    high |= value == 2;
  }
  EXPECT_TRUE(low);
  EXPECT_TRUE(high);
  EXPECT_EQ(random.between(5, 5), 5);
  (void)random.between(INT64_MIN, INT64_MAX);
}

TEST(Random, UnitStaysInTheHalfOpenInterval) {
  Random random(3);
  for (int i = 0; i < 1000; ++i) {
    const double value = random.unit();
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
  }
  EXPECT_FALSE(random.chance(0.0));
  EXPECT_TRUE(random.chance(1.0));
}

}  // namespace
}  // namespace fdbpack
