// SPDX-License-Identifier: Apache-2.0
//
// What children write, and where nobody reads it.
#include "tests/support/agent_fixture.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

namespace fdbpack::test {
namespace {

class Fault34 : public AgentTest {
 protected:
  // The child writes all of it, says so in the stamps by its grandchild's start, and lives on.
  void expect_flood_survived(const std::string& lines) {
    write_conf({{"a", "mode = flood,fork\n" + lines}, {"b", "mode = say\ntext = I am well\n"}});
    start_agent();
    ASSERT_TRUE(wait_for_starts("a.grandchild", 1)) << "writing blocked the child";
    ASSERT_TRUE(wait_for_log("Process=\"child.b\": I am well"));
    EXPECT_LT(resident_kib(agent_pid()), 200u * 1024);
    EXPECT_EQ(starts("a"), 1u);
    ASSERT_TRUE(Pidfd(last_pid("b")).send(SIGKILL));
    EXPECT_TRUE(wait_for_starts("b", 2));
  }
};
class Fault35 : public AgentTest {};

TEST_F(Fault34, FloodOfLinesBlocksNeitherChildNorAgent) {
  expect_flood_survived("flood = lines\nbytes = 4000000\n");
}

TEST_F(Fault34, LineOfTenMegabytesIsCutNotKept) {
  expect_flood_survived("flood = line\nbytes = 10485760\n");
}

TEST_F(Fault34, NulBytesAreCarriedWithoutHarm) {
  expect_flood_survived("flood = nul\nbytes = 100000\n");
}

TEST_F(Fault34, BytesThatAreNotTextAreCarriedWithoutHarm) {
  expect_flood_survived("flood = utf8\nbytes = 100000\nto = 2\n");
}

TEST_F(Fault34, ChildThatClosesItsOutputLivesOn) {
  expect_flood_survived("flood = close\n");
}

TEST_F(Fault34, LineUnder64KiBIsNeverSplit) {
  write_conf({{"a", "mode = flood\nflood = line\nbytes = 60000\n"}});
  start_agent();
  EXPECT_TRUE(wait_for_log("Process=\"child.a\": " + std::string(60000, 'x') + "\n"));
}

TEST_F(Fault34, LastWordsOfAProcessAreNotLost) {
  write_conf({{"a", "mode = say,exit\ntext = the reason why\nto = 2\ncode = 1\n"}});
  start_agent();
  EXPECT_TRUE(
      wait_for_log("Severity=\"40\" LogGroup=\"default\" Process=\"child.a\": the reason why"));
}

// stderr is a pipe that nobody reads: after 64 KiB every write would block.
TEST_F(Fault35, LogReaderThatStandsStillStopsNothing) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  write_conf({{"a", "mode = flood,fork\nflood = lines\nbytes = 2000000\n"}, {"b", ""}});
  AgentOptions options;
  options.error = ends[1];
  start_agent(options);
  close(ends[1]);
  ASSERT_TRUE(wait_for_starts("a.grandchild", 1));
  ASSERT_TRUE(wait_for_starts("b", 1));
  ASSERT_TRUE(Pidfd(last_pid("b")).send(SIGTERM));
  ASSERT_TRUE(wait_for_starts("b", 2)) << "a blocked log blocks the supervisor";
  write_conf({{"a", "mode = flood,fork\nflood = lines\nbytes = 2000000\n"}, {"b", "x = 1\n"}});
  ASSERT_TRUE(wait_for_starts("b", 3));
  close(ends[0]);
  EXPECT_EQ(stop_agent(), 0);
  EXPECT_TRUE(living().empty());
}

TEST_F(Fault35, LogReaderThatIsGoneStopsNothing) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  write_conf({{"a", "mode = flood,fork\nflood = lines\nbytes = 300000\n"}});
  AgentOptions options;
  options.error = ends[1];
  close(ends[0]);
  start_agent(options);
  close(ends[1]);
  ASSERT_TRUE(wait_for_starts("a.grandchild", 1));
  ASSERT_TRUE(Pidfd(last_pid("a")).send(SIGKILL));
  ASSERT_TRUE(wait_for_starts("a", 2));
  EXPECT_EQ(stop_agent(), 0);
}

}  // namespace
}  // namespace fdbpack::test
