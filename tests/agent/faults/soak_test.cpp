// SPDX-License-Identifier: Apache-2.0
//
// The agent is killed with -9 at random moments, over and over, under 50 children. None may be
// restarted and none may be doubled. FDBPACK_SOAK_SECONDS says for how long, FDBPACK_SOAK_SEED
// repeats a run.
#include "fdbpack/base/random.hpp"
#include "tests/support/agent_fixture.hpp"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

namespace fdbpack::test {
namespace {

constexpr std::size_t kChildren = 50;
constexpr int kKillsPerCycle = 8;
// Half of the kills come this early: while children are being started or taken over.
constexpr std::int64_t kEarlyMs = 40;
constexpr std::int64_t kLateMs = 250;

std::uint64_t number_from_environment(const char* name, std::uint64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

class Soak : public AgentTest {
 protected:
  // An agent that lives for a random time, or ends by itself because a child of the one before is
  // still on its way to its own image and holds the lock.
  void live_for_a_moment(Random& random) {
    start_agent();
    const auto ms = random.between(0, random.chance(0.5) ? kEarlyMs : kLateMs);
    (void)Pidfd(agent_pid()).wait_for_end(Seconds(static_cast<double>(ms) / 1000));
    kill_agent();
  }

  void expect_each_started_once(const std::vector<Section>& sections) {
    ASSERT_TRUE(wait([&] { return living().size() == kChildren; }))
        << ::testing::PrintToString(living());
    for (const Section& section : sections)
      EXPECT_EQ(starts(section.id), 1u) << section.id;
    EXPECT_EQ(doubles(), 0u);
  }
};

TEST_F(Soak, AgentKilledAtRandomMomentsNeitherRestartsNorDoublesAChild) {
  const auto seed = number_from_environment("FDBPACK_SOAK_SEED",
                                            static_cast<std::uint64_t>(getpid()) * 2654435761u);
  const Seconds limit(static_cast<double>(number_from_environment("FDBPACK_SOAK_SECONDS", 20)));
  std::cout << "FDBPACK_SOAK_SEED=" << seed << std::endl;
  Random random(seed);
  std::vector<Section> sections;
  for (std::size_t i = 0; i < kChildren; ++i) {
    sections.push_back({std::to_string(i), i % 2 == 0 ? "mode = argv\n" : "mode = say\n"});
  }
  write_conf(sections);
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::duration_cast<std::chrono::steady_clock::duration>(limit);
  std::size_t kills = 0;
  while (std::chrono::steady_clock::now() < end && !HasFailure()) {
    for (int i = 0; i < kKillsPerCycle; ++i, ++kills) {
      live_for_a_moment(random);
      ASSERT_EQ(doubles(), 0u) << "after " << kills << " kills";
      ASSERT_LE(stamps().size(), kChildren) << "a child was restarted after " << kills << " kills";
    }
    const std::size_t from = log_size();
    start_agent();
    ASSERT_TRUE(wait_for_log("Started ", from));  // from here on it stops in order when told to
    ASSERT_NO_FATAL_FAILURE(expect_each_started_once(sections));
    // The next cycle begins with nothing, so that agents are killed while they start children.
    ASSERT_EQ(stop_agent(), 0);
    ASSERT_TRUE(living().empty());
    write_file(dir().file("stamps"), "");
  }
  std::cout << kills << " kills under " << kChildren << " children, none restarted" << std::endl;
}

}  // namespace
}  // namespace fdbpack::test
