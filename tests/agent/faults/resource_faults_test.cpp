// SPDX-License-Identifier: Apache-2.0
//
// What the machine refuses: descriptors, processes, disk space, permissions, /proc, cgroups.
#include "tests/support/agent_fixture.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace fdbpack::test {
namespace {

namespace fs = std::filesystem;

class Fault16 : public AgentTest {};
class Fault17 : public AgentTest {};
class Fault20 : public AgentTest {};
class Fault21 : public AgentTest {};
class Fault22 : public AgentTest {};
class Fault23 : public AgentTest {};
class Fault51 : public AgentTest {};
class Fault52 : public AgentTest {};

bool can_mount() {
  return run_to_end({"unshare", "-m", "sh", "-c", "mount -t tmpfs none /mnt"}) == 0;
}

// fdbmonitor writes outside of its fd_set from 250 on.
TEST_F(Fault16, ThreeHundredChildrenWork) {
  constexpr std::size_t kCount = 300;
  std::vector<Section> sections;
  for (std::size_t i = 0; i < kCount; ++i) {
    sections.push_back({std::to_string(i), "mode = say\ntext = hello from $ID.\n"});
  }
  write_conf(sections);
  start_agent();
  ASSERT_TRUE(wait([&] { return stamps().size() == kCount; }));
  const pid_t last = last_pid("299");
  ASSERT_TRUE(Pidfd(last).send(SIGKILL));
  ASSERT_TRUE(wait_for_starts("299", 2));
  EXPECT_TRUE(wait_for_log("Process=\"child.299\": hello from 299."));
  EXPECT_TRUE(wait([&] { return living().size() == kCount; }));
  EXPECT_EQ(stop_agent(), 0);
  EXPECT_TRUE(living().empty());
}

TEST_F(Fault17, ChildrenInheritOnlyTheThreeStandardDescriptors) {
  std::vector<Section> sections;
  for (int i = 0; i < 10; ++i) {
    const std::string id = std::to_string(i);
    sections.push_back({id, "mode = fds\nfds = " + dir().file("fds." + id) + "\n"});
  }
  write_conf(sections);
  AgentOptions options;
  options.prefix = {"sh", "-c", "exec 7</dev/null 9</dev/null; exec \"$@\"", "sh"};
  start_agent(options);
  for (const Section& section : sections) {
    const std::string path = dir().file("fds." + section.id);
    ASSERT_TRUE(wait([&] { return fs::exists(path); })) << section.id;
    EXPECT_EQ(read_file(path), "0 1 2\n") << section.id;
  }
  // One that starts while others run gets no more.
  fs::remove(dir().file("fds.3"));
  ASSERT_TRUE(Pidfd(last_pid("3")).send(SIGKILL));
  ASSERT_TRUE(wait([&] { return fs::exists(dir().file("fds.3")); }));
  EXPECT_EQ(read_file(dir().file("fds.3")), "0 1 2\n");
}

TEST_F(Fault20, FullStateDirectoryStopsNothingAndStatusStaysTrue) {
  if (!can_mount()) GTEST_SKIP() << "needs a mount namespace to fill a file system: run as root";
  write_conf({{"a", ""}, {"b", ""}});
  fs::create_directory(dir().file("state"));
  AgentOptions options;
  options.prefix = {
      "unshare",
      "-m",
      "sh",
      "-c",
      "mount -t tmpfs -o size=64k none \"$WORK/state\" && "
      "{ head -c 100000 /dev/zero >\"$WORK/state/filler\" 2>/dev/null; exec \"$@\"; }",
      "sh"};
  options.environment = {"WORK=" + dir().path().string()};
  start_agent(options);
  ASSERT_TRUE(wait_for_starts("a", 1));
  ASSERT_TRUE(wait_for_starts("b", 1));
  EXPECT_TRUE(wait_for_log("No space left on device"));
  ASSERT_TRUE(Pidfd(last_pid("a")).send(SIGKILL));
  ASSERT_TRUE(wait_for_starts("a", 2));
  // Room again: the state is written without being asked for.
  const std::string inside = "/proc/" + std::to_string(agent_pid()) + "/root" + dir().file("state");
  fs::remove(inside + "/filler");
  EXPECT_TRUE(wait(
      [&] {
        for (const auto& entry : fs::directory_iterator(inside)) {
          if (read_file(entry.path()).find("\"pid\":" + std::to_string(last_pid("a"))) !=
              std::string::npos) {
            return true;
          }
        }
        return false;
      },
      Seconds(60)));
}

TEST_F(Fault21, StateDirectoryThatCannotBeWrittenStopsNothing) {
  write_conf({{"a", ""}});
  write_file(dir().file("state"), "a file where the folder should be");
  start_agent();
  ASSERT_TRUE(wait_for_starts("a", 1));
  EXPECT_TRUE(wait_for_log("state")) << "it must be said";
  ASSERT_TRUE(Pidfd(last_pid("a")).send(SIGKILL));
  ASSERT_TRUE(wait_for_starts("a", 2));
  // Without a state file the children are still found.
  kill_agent();
  start_agent();
  ASSERT_TRUE(Pidfd(agent_pid()).is_open());
  EXPECT_FALSE(wait([&] { return starts("a") > 2; }, Seconds(1)));
  EXPECT_EQ(living(), std::vector<std::string>{"a"});
  EXPECT_EQ(stop_agent(), 0);
  EXPECT_TRUE(living().empty());
}

TEST_F(Fault21, ReadOnlyStateDirectoryStopsNothing) {
  if (!can_mount()) GTEST_SKIP() << "needs a mount namespace: run as root";
  write_conf({{"a", ""}});
  fs::create_directory(dir().file("state"));
  AgentOptions options;
  options.prefix = {
      "unshare", "-m", "sh", "-c", "mount -t tmpfs -o ro none \"$WORK/state\" && exec \"$@\"",
      "sh"};
  options.environment = {"WORK=" + dir().path().string()};
  start_agent(options);
  ASSERT_TRUE(wait_for_starts("a", 1));
  EXPECT_TRUE(wait_for_log("Read-only file system"));
  ASSERT_TRUE(Pidfd(last_pid("a")).send(SIGKILL));
  EXPECT_TRUE(wait_for_starts("a", 2));
}

// At the limit there is still one descriptor for a new child in place of a dead one.
TEST_F(Fault22, AgentOutOfDescriptorsStillRestartsWhatDies) {
  write_conf({{"0", ""}, {"1", ""}});
  start_agent();
  ASSERT_TRUE(wait([&] { return living().size() == 2; }));
  ASSERT_TRUE(wait([&] { return status_of("child.1").contains("pid"); }));
  rlimit limit{};
  ASSERT_EQ(prlimit(agent_pid(), RLIMIT_NOFILE, nullptr, &limit), 0);
  limit.rlim_cur = lowest_free_descriptor(agent_pid());
  ASSERT_EQ(prlimit(agent_pid(), RLIMIT_NOFILE, &limit, nullptr), 0);
  ASSERT_TRUE(Pidfd(last_pid("0")).send(SIGKILL));
  EXPECT_TRUE(wait_for_starts("0", 2));
  EXPECT_EQ(starts("1"), 1u);
}

TEST_F(Fault22, AgentOutOfDescriptorsKeepsItsChildrenAndStartsTheRestLater) {
  std::vector<Section> sections = {{"0", ""}, {"1", ""}, {"2", ""}};
  write_conf(sections, "restart_delay = 2\n");
  start_agent();
  ASSERT_TRUE(wait([&] { return living().size() == 3; }));
  rlimit before{};
  ASSERT_EQ(prlimit(agent_pid(), RLIMIT_NOFILE, nullptr, &before), 0);
  const rlimit few_left{lowest_free_descriptor(agent_pid()) + 5, before.rlim_max};
  ASSERT_EQ(prlimit(agent_pid(), RLIMIT_NOFILE, &few_left, nullptr), 0);
  for (int i = 3; i < 13; ++i)
    sections.push_back({std::to_string(i), ""});
  const std::size_t from = log_size();
  write_conf(sections, "restart_delay = 2\n");
  ASSERT_TRUE(wait_for_log("Too many open files", from));
  EXPECT_TRUE(is_alive(agent_pid()));
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(starts(std::to_string(i)), 1u);
  ASSERT_EQ(prlimit(agent_pid(), RLIMIT_NOFILE, &before, nullptr), 0);
  EXPECT_TRUE(wait([&] { return living().size() == 13; }, Seconds(30)))
      << ::testing::PrintToString(living());
  EXPECT_EQ(doubles(), 0u);
}

// As a user of its own, because a limit on processes counts all that the user has.
TEST_F(Fault23, ForkThatFailsIsRetriedUntilItWorks) {
  if (getuid() != 0) GTEST_SKIP() << "needs root to become a user that has no other process";
  write_conf({{"a", ""}, {"b", ""}, {"c", ""}}, "restart_delay = 1\n");
  fs::create_directory(dir().file("state"));
  fs::permissions(dir().file("state"), fs::perms::all);
  AgentOptions options;
  options.prefix = {"setpriv",         "--reuid=61234", "--regid=61234", "--clear-groups",
                    "--inh-caps=-all", "prlimit",       "--nproc=2:64"};
  start_agent(options);
  ASSERT_TRUE(wait_for_log("Resource temporarily unavailable"));
  EXPECT_LT(stamps().size(), 3u);
  const std::size_t tried = count_in_log("Resource temporarily unavailable");
  EXPECT_LT(tried, 50u) << "retries need a delay";
  // Only the user itself may raise a soft limit without further privileges.
  ASSERT_EQ(run_to_end({"setpriv", "--reuid=61234", "--regid=61234", "--clear-groups", "prlimit",
                        "--pid", std::to_string(agent_pid()), "--nproc=64:64"}),
            0);
  EXPECT_TRUE(wait([&] { return living().size() == 3; }, Seconds(30)));
  EXPECT_EQ(doubles(), 0u);
}

TEST_F(Fault51, WithoutAWritableCgroupItSupervisesByProcessGroupAndSaysSo) {
  if (!can_mount()) GTEST_SKIP() << "needs a mount namespace to hide the cgroups: run as root";
  write_conf({{"a", "mode = fork\n"}});
  AgentOptions options;
  options.prefix = {"unshare",
                    "-m",
                    "sh",
                    "-c",
                    "mount -t tmpfs -o ro none /sys/fs/cgroup && "
                    "exec \"$@\"",
                    "sh"};
  start_agent(options);
  ASSERT_TRUE(wait_for_starts("a.grandchild", 1));
  EXPECT_TRUE(wait([&] { return status().dump().find("cgroup") != std::string::npos; }))
      << status();
  const pid_t grandchild = last_pid("a.grandchild");
  ASSERT_TRUE(Pidfd(last_pid("a")).send(SIGKILL));
  ASSERT_TRUE(wait_for_starts("a", 2));
  EXPECT_FALSE(is_alive(grandchild));
}

TEST_F(Fault52, WithoutProcItStillSupervises) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "LeakSanitizer and its options need /proc; other builds run it";
#endif
  if (!can_mount()) GTEST_SKIP() << "needs a mount namespace to hide /proc: run as root";
  write_conf({{"a", ""}, {"b", ""}});
  AgentOptions options;
  options.prefix = {"unshare", "-m", "sh", "-c", "mount -t tmpfs none /proc && exec \"$@\"", "sh"};
  start_agent(options);
  ASSERT_TRUE(wait_for_starts("a", 1));
  ASSERT_TRUE(wait_for_starts("b", 1));
  ASSERT_TRUE(Pidfd(last_pid("a")).send(SIGKILL));
  EXPECT_TRUE(wait_for_starts("a", 2));
  EXPECT_EQ(starts("b"), 1u);
  EXPECT_EQ(stop_agent(), 0);
  EXPECT_TRUE(living().empty());
}

// hidepid: a process of another user cannot be looked at.
TEST_F(Fault52, WithHiddenProcessesItStillAdoptsItsOwn) {
  if (!can_mount()) GTEST_SKIP() << "needs a mount namespace to mount /proc anew: run as root";
  write_conf({{"a", ""}});
  AgentOptions options;
  options.prefix = {
      "unshare", "-m", "sh", "-c", "mount -t proc -o hidepid=2 none /proc && exec \"$@\"", "sh"};
  start_agent(options);
  ASSERT_TRUE(wait_for_starts("a", 1));
  ASSERT_TRUE(wait([&] { return status_of("child.a").contains("pid"); }));
  kill_agent();
  start_agent(options);
  EXPECT_FALSE(wait([&] { return starts("a") > 1; }, Seconds(1)));
  EXPECT_EQ(stop_agent(), 0);
  EXPECT_TRUE(living().empty());
}

}  // namespace
}  // namespace fdbpack::test
