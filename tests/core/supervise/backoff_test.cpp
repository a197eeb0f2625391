// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/supervise/backoff.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <vector>

namespace fdbpack::supervise {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

model::RestartPolicy policy(int max, int initial, double backoff, int reset) {
  return {seconds(max), seconds(initial), backoff, seconds(reset)};
}

// The literal cases of fdbmonitor's ladder, without jitter.
struct Ladder {
  std::string_view name;
  model::RestartPolicy policy;
  std::vector<int> nominal;
};

const Ladder kLadders[] = {
    {"defaults_60", policy(60, 0, 60, 60), {0, 60, 60, 60, 60, 60, 60, 60}},
    {"doc_example", policy(60, 0, 2, 60), {0, 2, 4, 8, 16, 32, 60, 60}},
    {"initial_3_backoff_3", policy(60, 3, 3, 60), {3, 9, 27, 60, 60, 60, 60, 60}},
    {"initial_clamped", policy(5, 10, 2, 5), {5, 5, 5, 5, 5, 5, 5, 5}},
    {"max_0", policy(0, 0, 1, 0), {0, 0, 0, 0, 0, 0, 0, 0}},
};

TEST(Backoff, ClimbsFdbmonitorsLadder) {
  for (const Ladder& ladder : kLadders) {
    SCOPED_TRACE(ladder.name);
    Random random(1);
    Backoff backoff = fresh_backoff(ladder.policy);
    const Instant now{hours(1)};
    for (const int nominal : ladder.nominal) {
      backoff = note_start(backoff, now);
      EXPECT_EQ(std::lround(backoff.current_s), nominal);
      backoff = next_restart(backoff, ExitClass::failure, ladder.policy, now, random).backoff;
    }
  }
}

TEST(Backoff, JittersByATenthInWholeSecondsBothEndsIncluded) {
  struct Range {
    int current, low, high;
  };
  for (const Range& range : {Range{1, 0, 2}, Range{2, 1, 3}, Range{10, 9, 11}, Range{60, 54, 66}}) {
    SCOPED_TRACE(range.current);
    const auto same = policy(range.current, range.current, 1, 3600);
    Random random(7);
    std::set<std::int64_t> seen;
    for (int i = 0; i < 2000; ++i) {
      // With credit for it, a jitter down to 0 is a start at once.
      const Backoff backoff = note_start(fresh_backoff(same), Instant{});
      const RestartDelay next = next_restart(backoff, ExitClass::failure, same, Instant{}, random);
      ASSERT_EQ(next.delay % seconds(1), Duration::zero());
      seen.insert(std::chrono::duration_cast<seconds>(next.delay).count());
    }
    EXPECT_EQ(*seen.begin(), range.low);
    EXPECT_EQ(*seen.rbegin(), range.high);
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(range.high - range.low + 1));
  }
}

TEST(Backoff, BeginsAnewAfterTheResetIntervalAndNotBefore) {
  const auto p = policy(60, 0, 2, 30);
  for (const bool is_reached : {false, true}) {
    Random random(1);
    Backoff backoff = fresh_backoff(p);
    backoff.current_s = 32;
    backoff = note_start(backoff, Instant{});
    const Instant death = Instant{} + seconds(30) - milliseconds(is_reached ? 0 : 1);
    const RestartDelay next = next_restart(backoff, ExitClass::failure, p, death, random);
    EXPECT_EQ(next.delay == Duration::zero(), is_reached);
    EXPECT_EQ(next.backoff.current_s, is_reached ? 2.0 : 60.0);
  }
}

TEST(Backoff, StartsAtOnceAfterACleanExitAndClimbsAllTheSame) {
  const auto p = policy(60, 0, 2, 60);
  Random random(1);
  Backoff backoff = fresh_backoff(p);
  backoff.current_s = 16;
  backoff = note_start(backoff, Instant{});
  const RestartDelay next = next_restart(backoff, ExitClass::clean, p, Instant{}, random);
  EXPECT_EQ(next.delay, Duration::zero());
  EXPECT_EQ(next.backoff.current_s, 32.0);
}

TEST(Backoff, IsClampedByANewPolicyAndResetBySighup) {
  Backoff backoff = fresh_backoff(policy(60, 0, 2, 60));
  backoff.current_s = 60;
  EXPECT_EQ(clamp_ladder(backoff, policy(5, 0, 2, 60)).current_s, 5.0);
  backoff.current_s = 1;
  EXPECT_EQ(clamp_ladder(backoff, policy(60, 3, 2, 60)).current_s, 3.0);
  EXPECT_EQ(reset_ladder(backoff, policy(60, 3, 2, 60)).current_s, 3.0);
}

// Lets a process end `ran` after each of its starts, and gives the time between starts.
std::vector<Duration> starts_apart(const model::RestartPolicy& p, ExitClass end, Duration ran,
                                   int count) {
  Random random(1);
  Backoff backoff = fresh_backoff(p);
  Instant now{hours(1)};
  std::vector<Duration> apart;
  for (int i = 0; i < count; ++i) {
    backoff = note_start(backoff, now);
    const RestartDelay next = next_restart(backoff, end, p, now + ran, random);
    backoff = next.backoff;
    apart.push_back(ran + next.delay);
    now += ran + next.delay;
  }
  return apart;
}

TEST(RestartLimit, GivesFiveStartsAtOnceThenOneASecondWhenTheConfAllowsNoDelay) {
  const Duration now{};
  const Duration second = seconds(1);
  const std::vector<Duration> expected = {now, now, now, now, now, second, second, second};
  EXPECT_EQ(starts_apart(policy(0, 0, 1, 0), ExitClass::failure, Duration::zero(), 8), expected);
  EXPECT_EQ(starts_apart(policy(0, 0, 1, 0), ExitClass::clean, Duration::zero(), 8), expected);
}

TEST(RestartLimit, GrowsToTheMaximumOfThePolicyForCleanExits) {
  const auto apart = starts_apart(policy(60, 0, 2, 60), ExitClass::clean, Duration::zero(), 15);
  const std::vector<int> expected = {0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60};
  for (std::size_t i = 0; i < apart.size(); ++i)
    EXPECT_EQ(apart[i], seconds(expected[i])) << i;
}

TEST(RestartLimit, NeverDelaysAProcessThatRanForTwoSeconds) {
  for (const Duration apart : starts_apart(policy(0, 0, 1, 0), ExitClass::clean, seconds(2), 100)) {
    ASSERT_EQ(apart, seconds(2));
  }
}

TEST(RestartLimit, OpensAgainAfterAHealthyRun) {
  const auto p = policy(60, 0, 60, 60);
  Random random(1);
  Backoff backoff = fresh_backoff(p);
  backoff.credit = Duration::zero();
  backoff.spaced = 7;
  backoff = note_start(backoff, Instant{});
  const RestartDelay next =
      next_restart(backoff, ExitClass::clean, p, Instant{} + seconds(2), random);
  EXPECT_EQ(next.delay, Duration::zero());
  EXPECT_EQ(next.backoff.spaced, 0u);
}

TEST(RestartLimit, IsNotOpenedBySighupOrNewConfigurations) {
  const auto p = policy(0, 0, 1, 0);
  Backoff backoff = fresh_backoff(p);
  backoff.credit = Duration::zero();
  EXPECT_EQ(reset_ladder(backoff, p).credit, Duration::zero());
  EXPECT_EQ(clamp_ladder(backoff, p).credit, Duration::zero());
}

TEST(Backoff, SurvivesAbsurdPolicies) {
  Random random(1);
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double factor : {1.0, 1e300, infinity, nan, -1.0}) {
    for (const seconds length : {seconds::max(), seconds::min(), seconds(0), seconds(1)}) {
      const model::RestartPolicy p{length, length, factor, length};
      Backoff backoff = fresh_backoff(p);
      Instant now{};
      for (int i = 0; i < 20; ++i) {
        backoff = note_start(backoff, now);
        const RestartDelay next = next_restart(backoff, ExitClass::failure, p, now, random);
        backoff = clamp_ladder(next.backoff, p);
        ASSERT_GE(next.delay, Duration::zero());
        ASSERT_LE(next.delay, kRestartDelayMax);
      }
    }
  }
}

}  // namespace
}  // namespace fdbpack::supervise
