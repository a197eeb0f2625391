// SPDX-License-Identifier: Apache-2.0
//
// Children that do not want to end, and an agent that has to.
#include "tests/support/agent_fixture.hpp"

#include <signal.h>

#include <chrono>

namespace fdbpack::test {
namespace {

class Fault03 : public AgentTest {};
class Fault04 : public AgentTest {};
class Fault36 : public AgentTest {};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return Seconds(std::chrono::steady_clock::now() - begin).count();
}

TEST_F(Fault03, ChildThatIgnoresSigtermIsKilledAndDelaysNobody) {
  write_conf({{"b", "mode = stubborn\n"}, {"a", ""}});
  start_agent(with_grace(2));
  ASSERT_TRUE(wait_for_starts("a", 1));
  ASSERT_TRUE(wait_for_starts("b", 1));
  const pid_t stubborn = last_pid("b");
  const Pidfd held(stubborn);
  const auto begin = std::chrono::steady_clock::now();
  write_conf({{"a", ""}});
  ASSERT_TRUE(wait_for_log("Killing process " + std::to_string(stubborn)));
  // While that goes on, the other child is restarted at once.
  ASSERT_TRUE(Pidfd(last_pid("a")).send(SIGKILL));
  ASSERT_TRUE(wait_for_starts("a", 2));
  EXPECT_TRUE(is_alive(stubborn)) << "it was given no grace";
  ASSERT_TRUE(held.wait_for_end(kLimit));
  EXPECT_GE(seconds_since(begin), 1.9);
  EXPECT_EQ(starts("b"), 1u);
}

TEST_F(Fault04, StoppedChildEndsAtOnceWhenItIsToEnd) {
  write_conf({{"b", ""}, {"a", ""}});
  start_agent(with_grace(15));
  ASSERT_TRUE(wait_for_starts("a", 1));
  ASSERT_TRUE(wait_for_starts("b", 1));
  const Pidfd stopped(last_pid("b"));
  ASSERT_TRUE(stopped.send(SIGSTOP));
  ASSERT_TRUE(wait([&] { return process_info(stopped.pid()).state == 'T'; }));
  write_conf({{"a", ""}});
  EXPECT_TRUE(stopped.wait_for_end(Seconds(10))) << "SIGCONT must come along with SIGTERM";
  EXPECT_EQ(starts("a"), 1u);
}

TEST_F(Fault04, AgentEndsWithAStoppedChild) {
  write_conf({{"a", ""}});
  start_agent(with_grace(15));
  ASSERT_TRUE(wait_for_starts("a", 1));
  const Pidfd stopped(last_pid("a"));
  ASSERT_TRUE(stopped.send(SIGSTOP));
  ASSERT_TRUE(wait([&] { return process_info(stopped.pid()).state == 'T'; }));
  EXPECT_EQ(stop_agent(Seconds(10)), 0);
  EXPECT_FALSE(is_alive(stopped.pid()));
}

TEST_F(Fault36, StubbornChildrenAreStoppedInParallel) {
  std::vector<Section> sections;
  for (int i = 0; i < 10; ++i)
    sections.push_back({std::to_string(i), "mode = stubborn\n"});
  write_conf(sections);
  start_agent(with_grace(1));
  ASSERT_TRUE(wait([&] { return stamps().size() == 10; }));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(stop_agent(), 0);
  EXPECT_LT(seconds_since(begin), 5.0) << "ten times one second is one after the other";
  EXPECT_TRUE(living().empty());
}

TEST_F(Fault36, SecondSigtermDoesNotWaitForTheGrace) {
  write_conf({{"a", "mode = stubborn\n"}, {"b", ""}});
  start_agent(with_grace(60));
  ASSERT_TRUE(wait_for_starts("a", 1));
  ASSERT_TRUE(wait_for_starts("b", 1));
  signal_agent(SIGTERM);
  ASSERT_TRUE(wait_for_log("Received signal 15"));
  const Pidfd polite(last_pid("b"));
  ASSERT_TRUE(polite.wait_for_end(kLimit));
  EXPECT_TRUE(is_alive(last_pid("a")));
  EXPECT_EQ(stop_agent(Seconds(15)), 0);
  EXPECT_TRUE(living().empty());
}

TEST_F(Fault36, SlowButPoliteChildIsGivenItsTime) {
  write_conf({{"a", "mode = graceful\nterm_ms = 700\n"}});
  start_agent(with_grace(10));
  ASSERT_TRUE(wait_for_starts("a", 1));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(stop_agent(), 0);
  EXPECT_GE(seconds_since(begin), 0.7);
  EXPECT_LT(seconds_since(begin), 8.0);
  EXPECT_TRUE(living().empty());
}

}  // namespace
}  // namespace fdbpack::test
