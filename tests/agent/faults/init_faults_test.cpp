// SPDX-License-Identifier: Apache-2.0
//
// The agent as init of a container, as heir of strangers, and as one of two.
#include "tests/support/agent_fixture.hpp"

#include <signal.h>

namespace fdbpack::test {
namespace {

class Fault14 : public AgentTest {};
class Fault15 : public AgentTest {};
class Fault40 : public AgentTest {};

// Numbers in the stamps are those of the namespace; who is inside is found from outside.
class Fault13 : public AgentTest {
 protected:
  void SetUp() override {
    if (run_to_end({"unshare", "--pid", "--fork", "--mount-proc", "true"}) != 0) {
      GTEST_SKIP() << "needs a pid namespace: run as root";
    }
  }
  void start_agent_as_init() {
    AgentOptions options;
    options.prefix = {"unshare", "--pid", "--fork", "--mount-proc", "--kill-child"};
    start_agent(options);
    ASSERT_TRUE(wait_for_starts("a", 1));
    for (const pid_t pid : processes_marked("AGENT_TEST_MARK", mark())) {
      if (process_info(pid).parent == agent_pid()) init_ = pid;
    }
    ASSERT_GT(init_, 0);
  }
  [[nodiscard]] pid_t child_of(const std::string& section) const {
    for (const pid_t pid : processes_marked("AGENT_TEST_MARK", mark())) {
      if (environment_of(pid, "FDBPACK_PROCESS") == section) return pid;
    }
    return 0;
  }

  pid_t init_ = 0;
};

TEST_F(Fault13, AsPidOneItStartsRestartsReapsAndStops) {
  write_conf({{"a", ""}, {"b", "mode = double-fork,exit\nonce = " + dir().file("once") + "\n"}});
  ASSERT_NO_FATAL_FAILURE(start_agent_as_init());
  ASSERT_TRUE(wait_for_starts("b", 2)) << "its first copy left an orphan and ended";
  const pid_t child = child_of("child.a");
  ASSERT_GT(child, 0);
  ASSERT_TRUE(Pidfd(child).send(SIGKILL));
  ASSERT_TRUE(wait_for_starts("a", 2));
  // SIGTERM reaches a PID 1 only if it has asked for it.
  ASSERT_TRUE(Pidfd(init_).send(SIGTERM));
  EXPECT_EQ(wait_for_agent(), 0);
}

// What `docker stop` sends by STOPSIGNAL, LXC and Podman by default.
TEST_F(Fault13, AsPidOneItStopsInOrderByWhateverAnInitIsStoppedWith) {
  for (const int signal : {SIGQUIT, SIGPWR, SIGRTMIN + 3}) {
    write_file(dir().file("stamps"), "");
    write_conf({{"a", "mode = graceful\ncode = 0\n"}});
    ASSERT_NO_FATAL_FAILURE(start_agent_as_init());
    const Pidfd child(child_of("child.a"));
    ASSERT_TRUE(Pidfd(init_).send(signal));
    EXPECT_EQ(wait_for_agent(), 0) << signal;
    EXPECT_TRUE(wait_for_log("Received signal " + std::to_string(signal))) << signal;
    EXPECT_TRUE(child.wait_for_end(kLimit));
  }
}

TEST_F(Fault13, SignalsWithoutAMeaningEndNobody) {
  write_conf({{"a", ""}});
  ASSERT_NO_FATAL_FAILURE(start_agent_as_init());
  const pid_t child = child_of("child.a");
  for (const int signal : {SIGUSR1, SIGWINCH})
    ASSERT_TRUE(Pidfd(init_).send(signal));
  const std::size_t from = log_size();
  ASSERT_TRUE(Pidfd(init_).send(SIGHUP));  // heard after them
  ASSERT_TRUE(wait_for_log("Loading configuration", from));
  EXPECT_EQ(child_of("child.a"), child);
  ASSERT_TRUE(Pidfd(init_).send(SIGTERM));
  EXPECT_EQ(wait_for_agent(), 0);
}

// `stranger & exec agent`: the agent has a child that it never started.
TEST_F(Fault14, UnknownChildIsReapedAndIgnored) {
  write_conf({{"a", ""}});
  AgentOptions options;
  options.prefix = {"sh", "-c",
                    child_program() +
                        " --mode=exit --code=5 --after_ms=300 --id=stranger --stamp=" +
                        dir().file("stamps") + " & exec \"$@\"",
                    "sh"};
  start_agent(options);
  ASSERT_TRUE(wait_for_starts("a", 1));
  ASSERT_TRUE(wait_for_starts("stranger", 1));
  const pid_t stranger = last_pid("stranger");
  EXPECT_TRUE(wait([&] { return process_info(stranger).state == 'X'; })) << "it stayed a zombie";
  ASSERT_TRUE(Pidfd(last_pid("a")).send(SIGKILL));
  EXPECT_TRUE(wait_for_starts("a", 2));
  EXPECT_EQ(starts("stranger"), 1u);
  EXPECT_EQ(stop_agent(), 0);
}

TEST_F(Fault15, GrandchildInTheGroupIsGoneBeforeTheNextStart) {
  write_conf({{"a", "mode = fork\n"}});
  start_agent();
  ASSERT_TRUE(wait_for_starts("a.grandchild", 1));
  const pid_t grandchild = last_pid("a.grandchild");
  ASSERT_TRUE(Pidfd(last_pid("a")).send(SIGKILL));
  ASSERT_TRUE(wait_for_starts("a", 2));
  EXPECT_FALSE(is_alive(grandchild));
  EXPECT_EQ(doubles(), 0u) << "the grandchild still held what the child had locked";
}

TEST_F(Fault15, DetachedGrandchildIsCleanedUp) {
  write_conf({{"a", "mode = double-fork\n"}});
  start_agent();
  ASSERT_TRUE(wait_for_starts("a.detached", 1));
  const pid_t detached = last_pid("a.detached");
  ASSERT_TRUE(Pidfd(last_pid("a")).send(SIGKILL));
  ASSERT_TRUE(wait_for_starts("a", 2));
  EXPECT_TRUE(wait([&] { return !is_alive(detached); }));
}

TEST_F(Fault15, NothingIsLeftAfterTheAgentStopped) {
  write_conf(
      {{"a", "mode = fork\n"}, {"b", "mode = double-fork\n"}, {"c", "mode = fork,stubborn\n"}});
  start_agent(with_grace(1));
  ASSERT_TRUE(wait_for_starts("a.grandchild", 1));
  ASSERT_TRUE(wait_for_starts("b.detached", 1));
  ASSERT_TRUE(wait_for_starts("c.grandchild", 1));
  EXPECT_EQ(stop_agent(), 0);
  EXPECT_TRUE(wait([&] { return living().empty(); })) << ::testing::PrintToString(living());
}

TEST_F(Fault40, SecondAgentRefusesAtOnceAndNamesTheHolder) {
  write_conf({{"a", ""}});
  start_agent();
  ASSERT_TRUE(wait_for_starts("a", 1));
  const pid_t first = agent_pid();
  const pid_t second = spawn({{agent_program(), "monitor", "--conffile", conf_path(), "--lockfile",
                               dir().file("lock"), "--statedir", dir().file("state2")},
                              marked_environment(),
                              -1,
                              log_fd(),
                              log_fd()});
  EXPECT_NE(wait_for_exit(second, Seconds(10)), 0);
  EXPECT_TRUE(wait_for_log(std::to_string(first))) << "the holder is not named";
  EXPECT_EQ(starts("a"), 1u);
  EXPECT_TRUE(is_alive(first));
}

TEST_F(Fault40, StaleLockFileIsNoObstacle) {
  write_conf({{"a", ""}});
  write_file(dir().file("lock"), "999999999 and a tail of something longer\n");
  start_agent();
  ASSERT_TRUE(wait_for_starts("a", 1));
  EXPECT_TRUE(wait([&] {
    const std::string text = read_file(dir().file("lock"));
    return text.substr(0, text.find('\n')) == std::to_string(agent_pid());
  })) << read_file(dir().file("lock"));
  EXPECT_EQ(stop_agent(), 0);
}

}  // namespace
}  // namespace fdbpack::test
