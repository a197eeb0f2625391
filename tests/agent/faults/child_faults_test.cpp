// SPDX-License-Identifier: Apache-2.0
//
// Children that die, die together, die at once, loop, or cannot get what they need. Each test is
// named after its number in the table of faults (docs/faults.md).
#include "tests/support/agent_fixture.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <set>

namespace fdbpack::test {
namespace {

class Fault01 : public AgentTest {};
class Fault02 : public AgentTest {};
class Fault05 : public AgentTest {};

// What others hold.
class HolderTest : public AgentTest {
 protected:
  const std::string error_of_a_ = "Severity=\"40\" LogGroup=\"default\" Process=\"child.a\": ";

  static std::string held_by(pid_t pid) {
    return " is held by process " + std::to_string(pid) + " (test-child)";
  }
  bool is_blocked_by(const std::string& section, const std::string& what, pid_t pid) {
    const auto process = status_of(section);
    if (!process.contains("blocked_by")) return false;
    const auto& blocked = process.at("blocked_by");
    return blocked.value("what", "") == what && blocked.value("pid", 0) == pid &&
           blocked.value("name", "") == "test-child";
  }
  bool is_running_unblocked(const std::string& section) {
    const auto process = status_of(section);
    return process.value("state", "") == "running" && !process.contains("blocked_by");
  }
};

class Fault28 : public HolderTest {};
class Fault29 : public HolderTest {};
class Fault30 : public AgentTest {};
class Fault31 : public AgentTest {};

TEST_F(Fault01, KilledChildIsRestartedAtOnceAndItsSignalIsRecorded) {
  write_conf({{"a", ""}, {"b", ""}});
  start_agent();
  ASSERT_TRUE(wait_for_starts("a", 1));
  ASSERT_TRUE(wait_for_starts("b", 1));
  const pid_t victim = last_pid("a");
  const pid_t bystander = last_pid("b");
  ASSERT_TRUE(Pidfd(victim).send(SIGKILL));
  ASSERT_TRUE(wait_for_starts("a", 2));
  EXPECT_TRUE(wait_for_log("Process " + std::to_string(victim) +
                           " terminated by signal 9, restarting in 0 seconds"));
  EXPECT_TRUE(wait([&] { return status_of("child.a").value("pid", 0) == last_pid("a"); }));
  const auto death = last_exit("child.a");
  EXPECT_EQ(death.value("cause", ""), "signal") << death;
  EXPECT_EQ(death.value("signal", 0), 9) << death;
  EXPECT_EQ(last_pid("b"), bystander);
  EXPECT_EQ(doubles(), 0u);
}

// restart_delay = 0 makes a hot loop of fdbmonitor: 600 starts a second.
TEST_F(Fault02, CrashLoopIsSlowedDownButNeverGivenUp) {
  write_conf({{"a", "mode = exit\ncode = 1\n"}}, "restart_delay = 0\n");
  start_agent();
  ASSERT_TRUE(wait_for_starts("a", 8, Seconds(30)));
  const auto all = stamps();
  const double seconds = static_cast<double>(all[7].ns - all[0].ns) / 1e9;
  EXPECT_GT(seconds, 1.0) << "eight starts of a process that fails at once";
  const double cpu = static_cast<double>(process_info(agent_pid()).cpu_ticks) /
                     static_cast<double>(sysconf(_SC_CLK_TCK));
  EXPECT_LT(cpu, seconds / 2);
  EXPECT_GE(count_in_log("exited 1, restarting in"), 7u);
  // Never given up: there is a next start.
  const std::size_t before = starts("a");
  EXPECT_TRUE(wait_for_starts("a", before + 1, Seconds(30)));
}

TEST_F(Fault02, CleanExitsRestartAtOnceButNotInAHotLoop) {
  write_conf({{"a", "mode = exit\ncode = 0\n"}}, "restart_delay = 60\n");
  start_agent();
  ASSERT_TRUE(wait_for_starts("a", 8, Seconds(30)));
  const auto all = stamps();
  EXPECT_LT(all[2].ns - all[0].ns, 1'500'000'000u) << "the first restarts come at once";
  EXPECT_GT(all[7].ns - all[0].ns, 1'000'000'000u);
}

TEST_F(Fault05, StoppedChildIsSeenAndReported) {
  write_conf({{"a", ""}, {"b", ""}});
  start_agent();
  ASSERT_TRUE(wait_for_starts("a", 1));
  const pid_t stopped = last_pid("a");
  ASSERT_TRUE(Pidfd(stopped).send(SIGSTOP));
  ASSERT_TRUE(wait([&] { return process_info(stopped).state == 'T'; }));
  EXPECT_TRUE(wait_for_log("is stopped")) << "nothing says that the process is stopped";
  EXPECT_TRUE(wait([&] { return status_of("child.a").value("stopped", false); }));
  EXPECT_EQ(process_info(stopped).state, 'T') << "only reported: somebody may be debugging it";
  ASSERT_TRUE(Pidfd(stopped).send(SIGCONT));
  EXPECT_TRUE(wait([&] { return !status_of("child.a").value("stopped", true); }));
  EXPECT_EQ(starts("a"), 1u);
}

TEST_F(Fault28, PortInUseIsReportedWithoutAStormAndHealsWhenThePortIsFree) {
  const int port = free_port();
  const pid_t holder = spawn({{child_program(), "--mode=listen", "--port=" + std::to_string(port),
                               "--stamp=" + dir().file("stamps"), "--id=holder"},
                              marked_environment()});
  ASSERT_TRUE(wait_for_starts("holder", 1));
  write_conf({{"a", "mode = listen\nport = " + std::to_string(port) +
                        "\npublic_address = auto:" + std::to_string(port) + "\n"}},
             "restart_delay = 1\n");
  start_agent();
  ASSERT_TRUE(wait_for_log("Local address in use"));
  ASSERT_TRUE(wait_for_log("exited 1, restarting in"));
  const std::string what = "ort " + std::to_string(port);
  EXPECT_TRUE(wait_for_log(error_of_a_ + "P" + what + held_by(holder)));
  EXPECT_TRUE(wait([&] { return is_blocked_by("child.a", "p" + what, holder); }, Seconds(30)))
      << status_of("child.a");
  ASSERT_TRUE(wait_for_starts("a", 3, Seconds(30)));
  EXPECT_LT(starts("a"), 10u);
  ASSERT_TRUE(Pidfd(holder).send(SIGKILL));
  waitpid(holder, nullptr, 0);
  EXPECT_TRUE(wait(
      [&] {
        const pid_t pid = last_pid("a");
        return is_alive(pid) && process_info(pid).state == 'S' && living().size() == 1;
      },
      Seconds(30)));
  EXPECT_TRUE(wait([&] { return is_running_unblocked("child.a"); })) << status_of("child.a");
}

// It is started again at once, and takes a while to fail as fdbserver does: nobody waits with the
// name until it is given up for the time being.
TEST_F(Fault28, HolderOfThePortIsNamedFromTheFirstFailureOn) {
  const int port = free_port();
  const pid_t holder = spawn({{child_program(), "--mode=listen", "--port=" + std::to_string(port),
                               "--stamp=" + dir().file("stamps"), "--id=holder"},
                              marked_environment()});
  ASSERT_TRUE(wait_for_starts("holder", 1));
  write_conf({{"a", "mode = exit\ncode = 1\nafter_ms = 1500\npublic_address = 127.0.0.1:" +
                        std::to_string(port) + "\n"}},
             "restart_delay = 1\n");
  start_agent();
  ASSERT_TRUE(wait_for_log("Port " + std::to_string(port) + held_by(holder)));
  EXPECT_LE(starts("a"), 2u);
  ASSERT_TRUE(wait_for_starts("a", 3));
  EXPECT_EQ(count_in_log("is held by"), 1u) << "it is the same one";
  ASSERT_TRUE(Pidfd(holder).send(SIGKILL));
  waitpid(holder, nullptr, 0);
}

TEST_F(Fault29, LockedDataDirectoryOfALeftOverIsReportedWithoutALoop) {
  const std::string datadir = dir().file("data");
  const pid_t leftover = spawn({{child_program(), "--mode=lock,say", "--datadir=" + datadir,
                                 "--stamp=" + dir().file("stamps"), "--id=leftover"},
                                marked_environment()});
  ASSERT_TRUE(wait([&] {
    return !read_file(datadir + "/processId").empty() ||
           access((datadir + "/processId").c_str(), F_OK) == 0;
  }));
  write_conf({{"a", "mode = lock\ndatadir = " + datadir + "\n"}}, "restart_delay = 1\n");
  start_agent();
  ASSERT_TRUE(wait_for_log("Disk i/o operation failed"));
  EXPECT_TRUE(wait_for_log(error_of_a_ + "Data directory " + datadir + held_by(leftover)));
  EXPECT_TRUE(wait([&] { return is_blocked_by("child.a", "data directory " + datadir, leftover); },
                   Seconds(30)))
      << status_of("child.a");
  ASSERT_TRUE(wait_for_starts("a", 3, Seconds(30)));
  EXPECT_LT(starts("a"), 10u);
  EXPECT_TRUE(is_alive(leftover)) << "a process that is not ours must not be touched";
  ASSERT_TRUE(Pidfd(leftover).send(SIGKILL));
  waitpid(leftover, nullptr, 0);
  EXPECT_TRUE(wait([&] { return living() == std::vector<std::string>{"a"}; }, Seconds(30)));
  EXPECT_TRUE(wait([&] { return is_running_unblocked("child.a"); })) << status_of("child.a");
}

TEST_F(Fault30, HundredChildrenThatDieTogetherAreAllRestartedOnce) {
  std::vector<Section> sections;
  for (int i = 0; i < 100; ++i)
    sections.push_back({std::to_string(i), ""});
  write_conf(sections);
  start_agent();
  ASSERT_TRUE(wait([&] { return stamps().size() == 100; }));
  std::vector<Pidfd> victims;
  for (const Stamp& stamp : stamps())
    victims.emplace_back(stamp.pid);
  for (const Pidfd& victim : victims)
    victim.send(SIGKILL);
  ASSERT_TRUE(wait([&] { return stamps().size() >= 200; }));
  EXPECT_TRUE(wait([&] { return living().size() == 100; }));
  for (const Section& section : sections)
    EXPECT_EQ(starts(section.id), 2u) << section.id;
  EXPECT_EQ(doubles(), 0u);
}

// The child is dead before its parent has looked at it once; the second copy stays.
TEST_F(Fault31, ChildrenThatDieAtTheirFirstInstructionAreNotLost) {
  std::vector<Section> sections;
  for (int i = 0; i < 50; ++i) {
    const std::string id = std::to_string(i);
    sections.push_back({id, "mode = exit\ncode = 3\nonce = " + dir().file("once." + id) + "\n"});
  }
  write_conf(sections);
  start_agent();
  ASSERT_TRUE(wait([&] { return stamps().size() >= 100; }));
  EXPECT_TRUE(wait([&] { return living().size() == 50; }));
  for (const Section& section : sections)
    EXPECT_EQ(starts(section.id), 2u) << section.id;
  EXPECT_EQ(doubles(), 0u);
}

}  // namespace
}  // namespace fdbpack::test
