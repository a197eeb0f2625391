// SPDX-License-Identifier: Apache-2.0
//
// What the agent's own keys make of a process.
#include "tests/support/agent_fixture.hpp"

#include <signal.h>

#include <filesystem>

namespace fdbpack::test {
namespace {

class Settings : public AgentTest {
 protected:
  [[nodiscard]] nlohmann::json report() const {
    return nlohmann::json::parse(read_file(dir().file("report")), nullptr, false);
  }
  [[nodiscard]] Section reporter(const std::string& lines) const {
    return {"a", "mode = report\nreport = " + dir().file("report") + "\n" + lines};
  }
};

TEST_F(Settings, AreWhatTheProcessIsStartedWith) {
  write_conf({reporter("fdbpack_cwd = " + dir().path().string() +
                       "\nfdbpack_umask = 027\nfdbpack_nice = 3\nfdbpack-cpus = 0\n"
                       "fdbpack_oom_score_adj = 700\nfdbpack_limit_nofile = 77:99\n"
                       "fdbpack_limit_core = 0\n")});
  start_agent();
  ASSERT_TRUE(wait([&] { return report().is_object(); }));
  const auto seen = report();
  EXPECT_EQ(seen["cwd"], std::filesystem::canonical(dir().path()).string());
  EXPECT_EQ(seen["umask"], 027);
  EXPECT_EQ(seen["nice"], 3);
  EXPECT_EQ(seen["cpus"], 1);
  EXPECT_EQ(seen["oom_score_adj"], "700");
  EXPECT_EQ(seen["limit_files"], 77);
  EXPECT_EQ(seen["limit_core"], 0);
  EXPECT_EQ(seen["argv"].dump().find("--fdbpack"), std::string::npos) << "none is an argument";
}

TEST_F(Settings, ChangedOnesWaitForTheNextStartAndCanBeSeen) {
  write_conf({reporter("")});
  start_agent();
  ASSERT_TRUE(wait_for_starts("a", 1));
  write_conf({reporter("fdbpack_nice = 4\n")});
  ASSERT_TRUE(wait([&] { return status_of("child.a").value("pending_change", "") == "settings"; }))
      << status_of("child.a");
  EXPECT_EQ(starts("a"), 1u);
  ASSERT_TRUE(Pidfd(last_pid("a")).send(SIGKILL));
  EXPECT_TRUE(wait([&] { return report().value("nice", 0) == 4; }));
}

TEST_F(Settings, GraceOfItsOwnCountsAtOnceAndOverTheAgents) {
  write_conf({{"a", "mode = stubborn\n"}, {"b", ""}});
  start_agent(with_grace(1000));
  ASSERT_TRUE(wait_for_starts("a", 1));
  write_conf({{"a", "mode = stubborn\nfdbpack_stop_grace = 0.2\n"}, {"b", ""}});
  ASSERT_NO_FATAL_FAILURE(reload());
  EXPECT_EQ(stop_agent(), 0) << "SIGKILL came by the process's own grace";
  EXPECT_TRUE(living().empty());
}

// The agent waits for the longest, not for its own.
TEST_F(Settings, GraceLongerThanTheAgentsIsKept) {
  write_conf({{"a", "mode = graceful\nterm_ms = 1500\ncode = 0\nfdbpack_stop_grace = 60\n"}});
  start_agent(with_grace(0));
  ASSERT_TRUE(wait_for_starts("a", 1));
  ASSERT_TRUE(wait([&] { return status_of("child.a").contains("pid"); }));
  EXPECT_EQ(stop_agent(), 0);
  EXPECT_EQ(last_exit("child.a").value("cause", ""), "");
  EXPECT_EQ(count_in_log("terminated by signal 9"), 0u) << log();
}

TEST_F(Settings, WrongOnesAreRefusedWithTheirPlace) {
  write_conf({{"a", ""}});
  start_agent();
  ASSERT_TRUE(wait_for_starts("a", 1));
  write_conf({{"a", "fdbpack_nice = 50\n"}});
  ASSERT_TRUE(wait([&] {
    const auto shown = status().value("conf", nlohmann::json::object());
    return !shown.value("accepted", true) && shown["errors"][0].value("line", 0) == 8 &&
           shown["errors"][0].value("column", 0) == 1;
  })) << status();
  EXPECT_EQ(living(), std::vector<std::string>{"a"});
}

// Only the kernel knows that it will not do it: an error of the start, said once.
TEST_F(Settings, WhatTheKernelRefusesIsSaidOnceForEachStart) {
  write_conf({{"a", "fdbpack_cwd = " + dir().file("none") + "\n"}});
  start_agent();
  ASSERT_TRUE(wait_for_log("(chdir error 2: No such file or directory), restarting in"));
  EXPECT_TRUE(wait([&] { return last_exit("child.a").value("cause", "") == "spawn"; }));
  EXPECT_EQ(last_exit("child.a").value("message", ""),
            "could not be started: chdir: No such file or directory (errno 2)");
  EXPECT_EQ(count_in_log("Unable to launch"), count_in_log(", restarting in"));
}

}  // namespace
}  // namespace fdbpack::test
