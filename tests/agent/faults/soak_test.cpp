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
constexpr std::int64_t kMomentMaxMs = 250;

std::uint64_t number_from_environment(const char* name, std::uint64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

class Soak : public AgentTest {
 protected:
  // A random moment: until it has come, or the agent has ended by itself.
  void wait_a_moment(Random& random) {
    const auto ms = static_cast<double>(random.between(0, kMomentMaxMs));
    (void)Pidfd(agent_pid()).wait_for_end(Seconds(ms / 1000));
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
    start_agent();
    wait_a_moment(random);
    kill_agent();
    ++kills;
    ASSERT_EQ(doubles(), 0u) << "after " << kills << " kills";
    ASSERT_LE(stamps().size(), kChildren) << "a child was restarted after " << kills << " kills";
  }
  start_agent();
  if (Pidfd(agent_pid()).wait_for_end(Seconds(1))) {
    // A child of the last agent was still on its way to its own image, and held the lock.
    EXPECT_NE(wait_for_agent(), 0);
    start_agent();
  }
  ASSERT_TRUE(wait([&] { return living().size() == kChildren; }));
  for (const Section& section : sections)
    EXPECT_EQ(starts(section.id), 1u) << section.id;
  EXPECT_EQ(doubles(), 0u);
  EXPECT_EQ(stop_agent(), 0);
  EXPECT_TRUE(living().empty());
  std::cout << kills << " kills, " << kChildren << " children, none restarted" << std::endl;
}

}  // namespace
}  // namespace fdbpack::test
