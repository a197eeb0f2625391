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

// A cgroup v2 directory of the test's own, in a mount of its own.
class Fault24Cgroup : public AgentTest {
 protected:
  void SetUp() override {
    if (in_mount("mkdir " + group()) != 0) {
      GTEST_SKIP() << "needs root and a cgroup v2 tree that can be mounted";
    }
  }
  ~Fault24Cgroup() override {
    kill_agent();
    kill_marked("AGENT_TEST_MARK", mark());
    in_mount("n=0; until rmdir " + group() + "/* " + group() + " 2>/dev/null || [ ! -e " + group() +
             " ] || [ $n = 200 ]; do n=$((n+1)); done");
  }
  [[nodiscard]] std::string tree() const { return dir().file("cgroup"); }
  [[nodiscard]] std::string group() const { return tree() + "/" + name(); }
  [[nodiscard]] std::string name() const { return "fdbpack-test-" + mark(); }
  int in_mount(const std::string& script) const {
    fs::create_directories(tree());
    return run_to_end({"unshare", "-m", "sh", "-c",
                       "mount -t cgroup2 none " + tree() + " && { " + script + "; }"});
  }
  [[nodiscard]] AgentOptions in_cgroup() const {
    AgentOptions options;
    options.prefix = {
        "unshare", "-m", "sh", "-c", "mount -t cgroup2 none " + tree() + " && exec \"$@\"", "sh"};
    options.arguments = {"--cgroup", group()};
    return options;
  }
  [[nodiscard]] static std::string cgroup_of(pid_t pid) {
    const std::string all = read_file("/proc/" + std::to_string(pid) + "/cgroup");
    const auto at = all.find("0::");
    return at == std::string::npos ? "" : all.substr(at + 3, all.find('\n', at) - at - 3);
  }
};

// The memory controller may be bound to v1 here: then that is said, and the cause "oom" is tested
// with the simulated groups of the adoption test.
TEST_F(Fault24Cgroup, EveryChildIsBornInAGroupOfItsOwnAndKnownThereAfterwards) {
  write_conf({{"a", "mode = double-fork\n"}, {"b", ""}});
  start_agent(in_cgroup());
  ASSERT_TRUE(wait_for_starts("a.detached", 1));
  ASSERT_TRUE(wait_for_starts("b", 1));
  EXPECT_EQ(cgroup_of(last_pid("a")), "/" + name() + "/p-child.a");
  EXPECT_EQ(cgroup_of(last_pid("a.detached")), "/" + name() + "/p-child.a");
  EXPECT_EQ(cgroup_of(last_pid("b")), "/" + name() + "/p-child.b");
  EXPECT_EQ(cgroup_of(agent_pid()), "/" + name() + "/agent");
  ASSERT_TRUE(wait([&] { return status_of("child.b").contains("pid"); }));
  // The next agent knows the group again: it goes with the section, and all that is in it.
  kill_agent();
  start_agent(in_cgroup());
  ASSERT_TRUE(wait([&] { return status_of("child.a").value("adopted", false); })) << status();
  const pid_t detached = last_pid("a.detached");
  ASSERT_TRUE(is_alive(detached));
  write_conf({{"b", ""}});
  EXPECT_TRUE(wait([&] { return !is_alive(detached); })) << "it is in nobody's group any more";
  EXPECT_EQ(starts("b"), 1u);
}

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
