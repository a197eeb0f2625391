// SPDX-License-Identifier: Apache-2.0
#include "tests/agent/fixture.hpp"

namespace fdbpack::agent {
namespace {

using testing::Contains;
using testing::HasSubstr;

class Supervision : public WithAgent {};

TEST_F(Supervision, StartsEverySectionAndSaysSo) {
  write_conf("[x]\ncommand = " + sleeper() + "\n[x.1]\n[x.2]\n");
  start();
  ASSERT_TRUE(wait_running("x.1"));
  ASSERT_TRUE(wait_running("x.2"));
  EXPECT_THAT(log_.lines, Contains("10 fdbmonitor: Starting x.1"));
  EXPECT_THAT(log_.lines, Contains("10 x.1: Launching " + dir_.path("sleeper") + " (" +
                                   std::to_string(pid("x.1")) + ") for x.1"));
}

TEST_F(Supervision, AKilledProcessIsBackAtOnceAndItsEndIsKept) {
  write_conf("[x.1]\ncommand = " + sleeper() + "\n");
  start();
  ASSERT_TRUE(wait_running("x.1"));
  const int before = pid("x.1");
  ::kill(before, SIGKILL);
  ASSERT_TRUE(wait([&] { return pid("x.1") != before && phase("x.1") == "running"; }));
  const auto page =
      status([](const auto& json) { return json["processes"]["x.1"].value("restarts", 0) == 1; });
  EXPECT_EQ(page["processes"]["x.1"]["last_exit"]["signal"], SIGKILL);
  EXPECT_THAT(log_.lines, Contains("20 x.1: Process " + std::to_string(before) +
                                   " terminated by signal 9, restarting in 0 seconds"));
}

TEST_F(Supervision, AReplacedProgramIsSeenThoughNothingElseHappens) {
  look_every_ = std::chrono::milliseconds(50);
  const std::filesystem::path program = dir_.path("program");
  std::filesystem::copy_file("/bin/sleep", program);
  write_conf("[x.1]\ncommand = " + script("run", "exec " + program.string() + " 600") + "\n");
  start();
  ASSERT_TRUE(wait_running("x.1"));
  const std::string exe = "/proc/" + std::to_string(pid("x.1")) + "/exe";
  ASSERT_TRUE(wait([&] {
    std::error_code error;
    return std::filesystem::read_symlink(exe, error).filename() == "program";
  }));
  const auto says = [](const nlohmann::json& json, bool is_replaced) {
    return json["processes"]["x.1"].value("binary_replaced", !is_replaced) == is_replaced;
  };
  (void)status([&](const auto& json) { return says(json, false); });
  test::run_for(instance_->io, std::chrono::milliseconds(200));  // all is written
  std::filesystem::remove(program);
  (void)status([&](const auto& json) { return says(json, true); });
}

TEST_F(Supervision, AMissingCommandIsVisibleWithItsErrno) {
  write_conf("[x.1]\ncommand = " + dir_.path("none") + "\n");
  start();
  const auto page = status([](const auto& json) {
    return json["processes"]["x.1"].value("state", "") == "waiting" &&
           json["processes"]["x.1"].contains("last_exit");
  });
  EXPECT_EQ(page["processes"]["x.1"]["last_exit"]["errno"], ENOENT);
  EXPECT_EQ(page["processes"]["x.1"]["last_exit"]["cause"], "exec");
}

// Without its user it would run as the agent's, which is root as a rule.
TEST_F(Supervision, AProcessWhoseUserIsUnknownIsNotStarted) {
  write_conf("[fdbmonitor]\nuser = no-such-user\n[x.1]\ncommand = " + sleeper() + "\n");
  start();
  const auto page = status(
      [](const auto& json) { return json["processes"]["x.1"].value("state", "") == "waiting"; });
  EXPECT_EQ(page["processes"]["x.1"]["last_exit"]["cause"], "spawn");
  EXPECT_TRUE(is_logged("there is no user \"no-such-user\""));
  EXPECT_FALSE(is_logged("Launching"));
}

TEST_F(Supervision, OutputIsLoggedLineByLineAndTheLastLinesAreKept) {
  write_conf("[x.1]\ncommand = " + script("talk", "echo out; echo err >&2; exec sleep 600") + "\n");
  start();
  ASSERT_TRUE(wait([&] { return is_logged("10 x.1: out") && is_logged("40 x.1: err"); }));
  const auto page = status([](const auto& json) {
    return json["processes"]["x.1"].contains("last_lines") &&
           json["processes"]["x.1"]["last_lines"].size() == 2;
  });
  EXPECT_EQ(page["processes"]["x.1"]["output_lines"], 2);
}

TEST_F(Supervision, TheEnvironmentIsInheritedDeletedAndSet) {
  write_conf("[x.1]\ncommand = " + script("env", "echo $COLOUR,$SHAPE,$SIZE; exec sleep 600") +
             "\ndelete-envvars = COLOUR\nenvvars = SIZE=big\n");
  start();
  EXPECT_TRUE(wait([&] { return is_logged("10 x.1: ,round,big"); }));
}

TEST_F(Supervision, JoinedNeedsTheLineAndAListener) {
  const std::string command = script("join", "echo FDBD joined cluster.; exec sleep 600");
  write_conf("[x.1]\ncommand = " + command + "\n[x.2]\ncommand = " + command +
             "\npublic_address = 127.0.0.1:1\n");
  start();
  const auto page = status(
      [](const auto& json) { return json["processes"]["x.1"].value("joined", false) == true; });
  EXPECT_EQ(page["processes"]["x.2"]["joined"], false);
}

TEST_F(Supervision, TheAgentsPidIsInTheCommandLine) {
  write_conf("[x.1]\ncommand = " + script("args", "echo $1; exec sleep 600") +
             "\nparentpid = $PID\n");
  start();
  EXPECT_TRUE(wait([&] { return is_logged("--parentpid=" + std::to_string(::getpid())); }));
}

TEST_F(Supervision, TooMuchMemoryEndsAProcessAndIsItsCauseOfDeath) {
  write_conf("[x.1]\ncommand = " + sleeper() + "\nmemory = 1KB\n");
  start();
  const auto page =
      status([](const auto& json) { return json["processes"]["x.1"].contains("last_exit"); });
  EXPECT_EQ(page["processes"]["x.1"]["last_exit"]["cause"], "memory_limit");
}

TEST_F(Supervision, StoppingEndsAllAtOnceAndKillsWhoDoesNotListen) {
  grace_ = std::chrono::milliseconds(300);
  const std::string stubborn =
      script("stubborn", "trap '' TERM; echo up; while :; do sleep 1; done");
  write_conf("[x.1]\ncommand = " + sleeper() + "\n[x.2]\ncommand = " + stubborn + "\n");
  start();
  ASSERT_TRUE(wait([&] { return is_logged("x.2: up") && phase("x.1") == "running"; }));
  instance_->agent->on_signal(SIGTERM);
  ASSERT_TRUE(wait([&] { return instance_->exit_code.has_value(); }));
  EXPECT_EQ(*instance_->exit_code, 0);
  EXPECT_TRUE(is_logged("sending SIGKILL"));
}

TEST_F(Supervision, WhatAProcessLeftBehindIsKilledEvenOutsideItsGroup) {
  write_conf("[x.1]\ncommand = " + script("fork", "setsid sleep 601 & echo $!; exec sleep 600") +
             "\n");
  start();
  ASSERT_TRUE(wait([&] { return process("x.1") && !process("x.1")->lines.lines().empty(); }));
  const int escaped = std::stoi(process("x.1")->lines.lines().front().text);
  ::kill(pid("x.1"), SIGKILL);
  EXPECT_TRUE(wait([&] { return ::kill(escaped, 0) != 0; }));
}

}  // namespace
}  // namespace fdbpack::agent
