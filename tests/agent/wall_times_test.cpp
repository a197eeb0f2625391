// SPDX-License-Identifier: Apache-2.0
#include "agent/wall_times.hpp"

#include <gtest/gtest.h>

namespace fdbpack::agent {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

const WallTime kWall{std::chrono::hours(480'000)};
const Instant kInstant{std::chrono::hours(1)};

TEST(WallTimes, SayTheSameUntilTheCalendarIsSet) {
  WallTimes times;
  EXPECT_EQ(times.at(kInstant, kWall), kWall);
  EXPECT_EQ(times.at(kInstant, kWall + 1ms), kWall);
  EXPECT_EQ(times.at(kInstant, kWall - 1ms), kWall);
  EXPECT_EQ(times.at(kInstant + 1s, kWall + 1001ms), kWall + 1001ms) << "another point in time";
  EXPECT_EQ(times.at(kInstant, kWall + 60s), kWall + 60s);
  EXPECT_EQ(times.at(kInstant, kWall - 60s), kWall - 60s);
}

TEST(WallTimes, KeepAFew) {
  WallTimes times;
  (void)times.at(kInstant, kWall);
  for (std::size_t i = 1; i <= WallTimes::kKept; ++i) {
    (void)times.at(kInstant + i * 1s, kWall + i * 1s);
  }
  EXPECT_EQ(times.at(kInstant + 8s, kWall + 8001ms), kWall + 8s);
  EXPECT_EQ(times.at(kInstant, kWall + 1ms), kWall + 1ms) << "it was forgotten";
}

}  // namespace
}  // namespace fdbpack::agent
