// SPDX-License-Identifier: Apache-2.0
#include "agent/memory_pace.hpp"

#include "agent/listen_address.hpp"

#include <gtest/gtest.h>

namespace fdbpack::agent {
namespace {

using std::chrono::seconds;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

TEST(MemoryPace, ASmallLimitIsLookedAtOften) {
  EXPECT_EQ(first_memory_sample(50 << 20), seconds(2));
}

TEST(MemoryPace, AQuietProcessIsLookedAtOnceAMinuteInTheEnd) {
  EXPECT_EQ(first_memory_sample(8 * kGiB), seconds(16));
  EXPECT_EQ(next_memory_sample({kGiB, kGiB, seconds(16)}, 8 * kGiB), seconds(32));
  EXPECT_EQ(next_memory_sample({kGiB, kGiB, seconds(32)}, 8 * kGiB), seconds(60));
}

TEST(MemoryPace, GrowthShortensItLongBeforeTheLimit) {
  // A gigabyte in a minute, four left: a quarter of the four minutes that would take.
  EXPECT_EQ(next_memory_sample({4 * kGiB, 3 * kGiB, seconds(60)}, 8 * kGiB), seconds(60));
  EXPECT_EQ(next_memory_sample({7 * kGiB, 3 * kGiB, seconds(60)}, 8 * kGiB),
            std::chrono::milliseconds(3750));
}

TEST(MemoryPace, AboveTheLimitItIsWatchedClosely) {
  EXPECT_EQ(next_memory_sample({9 * kGiB, kGiB, seconds(60)}, 8 * kGiB), seconds(2));
}

TEST(ListenAddress, IsReadOffTheCommandLine) {
  using Argv = std::vector<std::string>;
  EXPECT_EQ(listen_address(Argv{"x", "--public_address=10.0.0.1:4500:tls,10.0.0.1:4501"}),
            (ListenAddress{"10.0.0.1", 4500}));
  EXPECT_EQ(listen_address(Argv{"x", "--public-address=[::1]:4500", "--listen-address=public"}),
            (ListenAddress{"::1", 4500}));
  EXPECT_EQ(listen_address(Argv{"x", "--public_address=1.2.3.4:1", "--listen_address=0.0.0.0:2"}),
            (ListenAddress{"127.0.0.1", 2}));
  EXPECT_FALSE(listen_address(Argv{"x", "--public_address=auto:4500"}));
  EXPECT_FALSE(listen_address(Argv{"x"}));
}

TEST(ListenAddress, AllThatAreBoundAreAsTheyAreWritten) {
  using Argv = std::vector<std::string>;
  const std::vector<ListenAddress> both = {{"auto", 4500}, {"0.0.0.0", 4501}};
  EXPECT_EQ(bound_addresses(Argv{"x", "--public_address=auto:4500:tls,0.0.0.0:4501"}), both);
  EXPECT_TRUE(bound_addresses(Argv{"x"}).empty());
}

}  // namespace
}  // namespace fdbpack::agent
