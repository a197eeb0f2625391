// SPDX-License-Identifier: Apache-2.0
//
// Commands that cannot be executed, and what a child gets when it can be.
#include "tests/support/agent_fixture.hpp"

#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace fdbpack::test {
namespace {

namespace fs = std::filesystem;

class Fault18 : public AgentTest {
 protected:
  [[nodiscard]] std::string conf_for(const std::string& command) const {
    return "[general]\nrestart_delay = 1\n[child.a]\ncommand = " + command +
           "\nid = $ID\nstamp = " + dir().file("stamps") + "\n";
  }

  // Said with its errno, tried again at the ladder's pace, and started once it can be.
  void expect_error_then_recovery(const std::string& error) {
    const std::string command = dir().file("server");
    replace_file(conf_path(), conf_for(command));
    start_agent();
    ASSERT_TRUE(wait_for_log(error));
    EXPECT_TRUE(wait_for_log("Unable to launch " + command + " for child.a"));
    ASSERT_TRUE(wait([&] { return count_in_log("Unable to launch") >= 3; }, Seconds(30)));
    EXPECT_LT(count_in_log("Unable to launch"), 12u);
    EXPECT_EQ(count_in_log("exited 0"), 0u);
    EXPECT_TRUE(wait([&] { return last_exit("child.a").value("cause", "") == "exec"; }))
        << status_of("child.a");
    fs::copy_file(child_program(), command + ".new");
    fs::rename(command + ".new", command);
    EXPECT_TRUE(wait_for_starts("a", 1, Seconds(30)));
  }
};

class Fault33 : public AgentTest {};
class Launch : public AgentTest {};

TEST_F(Fault18, MissingBinaryIsAnExecErrorAndIsStartedWhenItAppears) {
  expect_error_then_recovery("No such file or directory");
}

TEST_F(Fault18, BinaryWithoutExecutePermission) {
  write_file(dir().file("server"), "#!/bin/sh\n");
  expect_error_then_recovery("Permission denied");
}

TEST_F(Fault18, BinaryOfNoKnownFormat) {
  write_file(dir().file("server"), "no program at all\n");
  chmod(dir().file("server").c_str(), 0755);
  expect_error_then_recovery("Exec format error");
}

TEST_F(Fault18, ScriptWhoseInterpreterIsMissing) {
  write_file(dir().file("server"), "#!/no/such/interpreter\n");
  chmod(dir().file("server").c_str(), 0755);
  expect_error_then_recovery("No such file or directory");
}

// posix_spawn keeps what the agent's parent ignored and blocked, unless it is told otherwise.
TEST_F(Fault33, ChildrenStartWithDefaultSignalsWhateverTheAgentInherited) {
  write_conf({{"a", "mode = report\nreport = " + dir().file("report") + "\n"}});
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigdelset(&all, SIGKILL);
  for (const int number : {SIGCHLD, SIGHUP, SIGPIPE, SIGUSR1, SIGUSR2, SIGTERM, SIGINT}) {
    signal(number, SIG_IGN);
  }
  sigprocmask(SIG_SETMASK, &all, &before);
  start_agent();
  sigprocmask(SIG_SETMASK, &before, nullptr);
  for (const int number : {SIGCHLD, SIGHUP, SIGPIPE, SIGUSR1, SIGUSR2, SIGTERM, SIGINT}) {
    signal(number, SIG_DFL);
  }
  ASSERT_TRUE(wait([&] { return fs::exists(dir().file("report")); }));
  const auto report = nlohmann::json::parse(read_file(dir().file("report")));
  EXPECT_EQ(report["blocked"], "0000000000000000");
  EXPECT_EQ(report["ignored"], "0000000000000000");
  // And the agent itself is not deaf: it notices deaths, SIGHUP and SIGTERM.
  ASSERT_TRUE(Pidfd(last_pid("a")).send(SIGKILL));
  ASSERT_TRUE(wait_for_starts("a", 2));
  ASSERT_NO_FATAL_FAILURE(reload());
  EXPECT_EQ(stop_agent(), 0);
}

// The kernel sends SIGIO when a conf is opened for writing at the moment in which it is looked
// whether anybody writes it. Unheard it would end the agent.
TEST_F(Fault33, SigioDoesNotEndTheAgent) {
  write_conf({{"a", ""}});
  start_agent();
  ASSERT_TRUE(wait_for_starts("a", 1));
  ASSERT_EQ(::kill(agent_pid(), SIGIO), 0);
  ASSERT_NO_FATAL_FAILURE(reload());
  EXPECT_EQ(stop_agent(), 0);
}

TEST_F(Launch, ChildRunsInItsOwnProcessGroupWithTheConfsEnvironment) {
  write_conf({{"a", "mode = report\nreport = " + dir().file("report") +
                        "\nenvvars = GIVEN=yes\ndelete_envvars = UNWANTED\n"}});
  AgentOptions options;
  options.environment = {"UNWANTED=1", "KEPT=1"};
  start_agent(options);
  ASSERT_TRUE(wait([&] { return fs::exists(dir().file("report")); }));
  const auto report = nlohmann::json::parse(read_file(dir().file("report")));
  EXPECT_EQ(report["pgid"], report["pid"]);
  EXPECT_EQ(report["ppid"], agent_pid());
  EXPECT_EQ(report["cwd"], "/");
  EXPECT_EQ(report["fds"], nlohmann::json::array({0, 1, 2}));
  const std::string environment = report["env"].dump();
  EXPECT_NE(environment.find("\"GIVEN=yes\""), std::string::npos);
  EXPECT_NE(environment.find("\"KEPT=1\""), std::string::npos);
  EXPECT_EQ(environment.find("UNWANTED"), std::string::npos);
}

TEST_F(Launch, ChildRunsAsTheConfsUserWithTheUsersGroupsOnly) {
  const passwd* nobody = getpwnam("nobody");
  if (getuid() != 0 || nobody == nullptr) GTEST_SKIP() << "needs root and a user called nobody";
  replace_file(conf_path(), "[fdbmonitor]\nuser = nobody\n" +
                                conf({{"a", "mode = report\nreport = " + dir().file("report")}}));
  start_agent();
  ASSERT_TRUE(wait([&] { return fs::exists(dir().file("report")); }));
  const auto report = nlohmann::json::parse(read_file(dir().file("report")));
  EXPECT_EQ(report["uid"], nobody->pw_uid);
  EXPECT_EQ(report["euid"], nobody->pw_uid);
  EXPECT_EQ(report["gid"], nobody->pw_gid);
  EXPECT_EQ(report["groups"], nlohmann::json::array({nobody->pw_gid}));
}

}  // namespace
}  // namespace fdbpack::test
