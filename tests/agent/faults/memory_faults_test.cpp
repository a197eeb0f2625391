// SPDX-License-Identifier: Apache-2.0
//
// Memory: a child over its limit, and a child that the kernel kills.
#include "tests/support/agent_fixture.hpp"

#include <signal.h>
#include <unistd.h>

#include <filesystem>

namespace fdbpack::test {
namespace {

namespace fs = std::filesystem;

class Fault24 : public AgentTest {};
class Fault26 : public AgentTest {};

// A cgroup v1 memory limit is what can be had without the v2 controller; the agent sees the
// kernel's SIGKILL, and the cause "oom" is covered over a simulated process table.
TEST_F(Fault24, OomKillOfOneChildLeavesTheOthersAlone) {
  const std::string group = "/sys/fs/cgroup/memory/fdbpack-test-" + mark();
  std::error_code error;
  if (!fs::create_directory(group, error)) {
    GTEST_SKIP() << "needs a writable cgroup v1 memory controller to provoke the OOM killer; the "
                    "cause itself is tested over the simulated process table";
  }
  write_file(group + "/memory.limit_in_bytes", "33554432");
  const std::string enter = dir().file("enter");
  write_file(enter, "#!/bin/sh\necho $$ >" + group + "/cgroup.procs\nexec " + child_program() +
                        " \"$@\"\n");
  fs::permissions(enter, fs::perms::all);
  write_conf({{"a", ""}, {"hungry", "command = " + enter + "\nmode = memory\nrss_mib = 256\n"}});
  start_agent();
  ASSERT_TRUE(wait_for_starts("a", 1));
  ASSERT_TRUE(wait_for_log("terminated by signal 9") || wait_for_log("out of memory"));
  EXPECT_TRUE(wait_for_starts("hungry", 2));
  EXPECT_EQ(starts("a"), 1u);
  EXPECT_TRUE(is_alive(agent_pid()));
  kill_agent();
  kill_marked("AGENT_TEST_MARK", mark());
  EXPECT_TRUE(wait([&] { return rmdir(group.c_str()) == 0; }));
}

TEST_F(Fault26, ChildOverItsMemoryLimitIsStoppedAndTheCauseIsKept) {
  write_conf({{"a", ""}, {"big", "mode = memory\nrss_mib = 100\nmemory = 40MiB\n"}});
  start_agent();
  ASSERT_TRUE(wait_for_starts("big", 1));
  ASSERT_TRUE(wait_for_log("being killed for exceeding resident memory limit"));
  ASSERT_TRUE(wait_for_starts("big", 2));
  EXPECT_TRUE(wait([&] { return last_exit("child.big").value("cause", "") == "memory_limit"; }))
      << status_of("child.big");
  EXPECT_EQ(starts("a"), 1u);
}

TEST_F(Fault26, ChildThatIgnoresSigtermIsKilledForItsMemory) {
  write_conf({{"big", "mode = stubborn,memory\nrss_mib = 100\nmemory = 40MiB\n"}});
  start_agent(with_grace(1));
  ASSERT_TRUE(wait_for_starts("big", 1));
  EXPECT_TRUE(wait_for_starts("big", 2)) << "fdbmonitor sends SIGTERM for ever";
}

// fdbmonitor kills at once what its conf was told not to touch.
TEST_F(Fault26, LoweredLimitOfAnUntouchedProcessCountsFromItsNextStart) {
  const std::string general = "restart_delay = 60\nkill_on_configuration_change = false\n";
  write_conf({{"big", "mode = memory\nrss_mib = 100\nmemory = 400MiB\n"}}, general);
  start_agent();
  ASSERT_TRUE(wait_for_starts("big", 1));
  ASSERT_TRUE(wait([&] { return resident_kib(last_pid("big")) > 90 * 1024; }));
  const pid_t before = last_pid("big");
  write_conf({{"big", "mode = memory\nrss_mib = 100\nmemory = 40MiB\n"}}, general);
  ASSERT_TRUE(
      wait([&] { return status_of("child.big").value("pending_change", "") == "command"; }));
  EXPECT_EQ(status_of("child.big").value("memory_limit_bytes", 0), 400 << 20);
  ASSERT_TRUE(Pidfd(before).send(SIGKILL));
  ASSERT_TRUE(wait_for_starts("big", 2));
  EXPECT_TRUE(wait_for_log("being killed for exceeding resident memory limit"));
}

}  // namespace
}  // namespace fdbpack::test
