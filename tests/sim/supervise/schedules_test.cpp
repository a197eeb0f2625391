// SPDX-License-Identifier: Apache-2.0
//
// 100,000 random schedules of the process machine; 8,000 under a sanitizer, which is ten times
// slower. FDBPACK_SIM_SEED=n replays one of them, FDBPACK_SIM_SCHEDULES=n runs another number.
#include "tests/sim/supervise/schedule.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

namespace fdbpack::supervise::sim {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kSchedules = 8'000;
#else
constexpr std::uint64_t kSchedules = 100'000;
#endif
constexpr std::uint64_t kParts = 4;  // so that they run beside each other

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

class ProcessSchedules : public testing::TestWithParam<std::uint64_t> {};

TEST_P(ProcessSchedules, KeepTheInvariantsAndConverge) {
  ConfCache cache;
  std::uint64_t first = GetParam() * 1'000'000;
  std::uint64_t count = from_environment("FDBPACK_SIM_SCHEDULES", kSchedules) / kParts;
  if (std::getenv("FDBPACK_SIM_SEED") != nullptr) {
    if (GetParam() != 0) GTEST_SKIP() << "one seed is replayed, by part 0";
    first = from_environment("FDBPACK_SIM_SEED", 0);
    count = 1;
  }
  std::uint64_t steps = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const Outcome outcome = run_schedule(seed, cache);
    steps += outcome.steps;
    ASSERT_EQ(outcome.failure, "") << "replay with FDBPACK_SIM_SEED=" << seed << "\n"
                                   << outcome.trace;
  }
  std::cout << count << " schedules, " << steps << " steps, seeds from " << first << "\n";
}

INSTANTIATE_TEST_SUITE_P(Part, ProcessSchedules, testing::Range(std::uint64_t{0}, kParts));

}  // namespace
}  // namespace fdbpack::supervise::sim
