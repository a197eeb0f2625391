// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/conf/monitor_conf.hpp"

#include "fdbpack/conf/environment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fdbpack::conf {
namespace {

using std::chrono::seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kStart = "[general]\nrestart_delay=60\n[fdbserver]\ncommand=/bin/x\n";

MonitorConf resolve_text(const std::string& text, Dialect dialect = Dialect::v7_4) {
  return resolve(parse(text).document, {dialect, "77"});
}

TEST(MonitorConf, ResolvesTheRestartKeysWithTheirDefaults) {
  const auto conf = resolve_text(
      std::string(kStart) +
      "[fdbserver.1]\n[fdbserver.2]\nrestart-delay=30\n"
      "initial_restart_delay=40\nrestart_backoff=1.5\nrestart-delay-reset-interval=7\n");
  ASSERT_THAT(conf.processes, SizeIs(2));
  EXPECT_EQ(conf.processes[0].restart,
            (model::RestartPolicy{seconds(60), seconds(0), 60.0, seconds(60)}));
  EXPECT_EQ(conf.processes[1].restart,
            (model::RestartPolicy{seconds(30), seconds(30), 1.5, seconds(7)}));
}

TEST(MonitorConf, KeepsFdbmonitorsOwnKeysToItself) {
  const auto conf =
      resolve_text(std::string(kStart) +
                   "[fdbserver.1]\ndisable_lifecycle_logging=true\ndelete-envvars=A  B\n"
                   "envvars=C=1 D=2\nkill_on_configuration_change=false\nmemory=1GiB\nflag_a=true\n"
                   "flag-b=false\nparentpid=$PID\n");
  const ProcessCommand& process = conf.processes.at(0);
  EXPECT_THAT(process.argv, ElementsAre("/bin/x", "--a", "--memory=1GiB", "--parentpid=77"));
  EXPECT_TRUE(process.is_quiet);
  EXPECT_FALSE(process.kill_on_configuration_change);
  EXPECT_THAT(process.deleted_environment, ElementsAre("A", "B"));
  EXPECT_THAT(process.environment, ElementsAre(std::pair("C", "1"), std::pair("D", "2")));
  EXPECT_EQ(process.memory_limit_bytes, 1u << 30);
}

TEST(MonitorConf, LooksForHyphensAsUnderscoresButNotTheOtherWay) {
  const auto conf =
      resolve_text("[general]\nrestart_delay=1\n[x]\ncommand=/c\na-b=type\n[x.1]\na_b=own\n");
  EXPECT_THAT(conf.processes.at(0).argv, ElementsAre("/c", "--a-b=own", "--a_b=own"));
}

TEST(MonitorConf, RefusesWithThePlaceOfTheCause) {
  const auto conf = resolve_text(
      std::string(kStart) +
      "[fdbserver.1]\nrestart_delay=60s\n[y.1]\n[fdbserver.2]\n"
      "flag_z=maybe\n[fdbserver.$ID]\n[fdbserver.3]\nenvvars=A==B\n[fdbserver.4]\ncommand=\n");
  ASSERT_THAT(conf.refusals, SizeIs(6));
  EXPECT_EQ(conf.refusals[0].message, "The ID of fdbserver.$ID contains $ID");
  EXPECT_EQ(conf.refusals[1].message, "Unable to parse restart delay for fdbserver.1");
  EXPECT_EQ(conf.refusals[1].at, (Position{6, 1}));
  EXPECT_EQ(conf.refusals[2].message,
            "Bad flag value, must be true/false.  Flag: 'z'  Value: 'maybe'");
  EXPECT_EQ(conf.refusals[2].at, (Position{9, 1}));
  EXPECT_EQ(conf.refusals[3].message,
            "Bad envvars for fdbserver.3: 'A==B': Only one equal sign allowed");
  EXPECT_EQ(conf.refusals[4].message, "The command for fdbserver.4 is empty");
  EXPECT_EQ(conf.refusals[5].message, "Unable to resolve command for y.1");
  EXPECT_EQ(conf.refusals[5].at, (Position{7, 1}));
  EXPECT_THAT(conf.processes, IsEmpty());
}

TEST(MonitorConf, ReplacesTheIdAsOftenAsItStands) {
  const auto conf =
      resolve_text(std::string(kStart) + "[fdbserver.7]\na=$ID/$ID/$IDENT/$$ID/${ID}\n");
  EXPECT_THAT(conf.processes.at(0).argv, Contains("--a=7/7/7ENT/$7/${ID}"));
}

TEST(MonitorConf, ReadsNumbersAsFdbmonitorDoes) {
  const auto conf = resolve_text(
      "[general]\nrestart_delay=\n[x]\ncommand=/c\n[x.1]\n[x.2]\nrestart_delay=+5\n[x.3]\n"
      "restart_backoff=\n");
  ASSERT_THAT(conf.processes, SizeIs(2));
  EXPECT_EQ(conf.processes[0].restart.delay_max, seconds(0));
  EXPECT_EQ(conf.processes[1].restart.delay_max, seconds(5));
  EXPECT_EQ(conf.refusals.at(0).message, "Invalid restart backoff value 0.000000 for x.3");
}

TEST(MonitorConf, TakesUserAndGroupFromTheMonitorsOwnSection) {
  const auto conf = resolve_text("[fdbmonitor]\nuser = foundationdb\ngroup = g\n");
  EXPECT_EQ(conf.user, "foundationdb");
  EXPECT_EQ(conf.group, "g");
}

std::vector<std::string> check_text(const std::string& text) {
  std::vector<std::string> found;
  for (const auto& diagnostic : check(text))
    found.push_back(to_string(diagnostic));
  return found;
}

TEST(ConfCheck, SaysNothingAboutAGoodConf) {
  EXPECT_THAT(check_text(std::string(kStart) +
                         "[fdbserver.4500]\npublic-address=auto:$ID\ndatadir=/d/$ID\n"
                         "[fdbserver.4501]\npublic-address=auto:$ID\ndatadir=/d/$ID\n"),
              IsEmpty());
}

TEST(ConfCheck, FindsTwoProcessesOnOnePortOrOneDirectory) {
  EXPECT_THAT(
      check_text(std::string(kStart) + "public_address=10.0.0.1:4500\n[fdbserver.1]\ndatadir=/d/a\n"
                                       "[fdbserver.2]\ndatadir=/d/./b/../a/\n"),
      ElementsAre(
          "8:1: error: [fdbserver.1] and [fdbserver.2] both use the data directory /d/a; give each "
          "its own",
          "8:1: error: [fdbserver.1] and [fdbserver.2] both use port 4500; give each its own"));
  EXPECT_THAT(
      check_text(std::string(kStart) +
                 "[fdbserver.1]\npublic_address=10.0.0.1:4500:tls,10.0.0.1:4501\n"
                 "[fdbserver.2]\npublic_address=10.0.0.1:4502\nlisten_address=0.0.0.0:4501\n"),
      ElementsAre(HasSubstr("both use port 4501")));
  EXPECT_THAT(check_text(std::string(kStart) +
                         "[fdbserver.1]\npublic_address=10.0.0.1:4500\n"
                         "[fdbserver.2]\npublic_address=10.0.0.2:4500\nlisten_address=public\n"),
              IsEmpty());
}

TEST(ConfCheck, FindsWhatFdbmonitorWouldRunByAccident) {
  EXPECT_THAT(
      check_text(
          "[general]\nRestart-Delay=60\n[x]\ncommand=bin/x\na-b=1\nmemory=2 GB\n[x.1]\na_b=2\n"
          "envvars=A=1\n"),
      ElementsAre(
          "2:1: error: fdbmonitor's key 'restart-delay' must be in lower case; as it is, the "
          "process "
          "gets it as an argument too and does not start",
          "7:1: error: the command of [x.1] is 'bin/x'; give its full path, because fdbmonitor "
          "looks "
          "nowhere else",
          "7:1: error: [x.1] gets both --a-b and --a_b; use one spelling everywhere",
          "7:1: warning: the memory of [x.1] is not limited: its 'memory' is 0 or cannot be read",
          "9:1: warning: fdbmonitor before 7.4 passes 'envvars' on to the process, which does not "
          "start with it"));
}

const ResolveOptions kForAgent{Dialect::v7_4, "$PID", true};

TEST(OwnKeys, AreReadByTheAgentAndNotPassedOn) {
  const auto conf =
      resolve(parse("[general]\nrestart-delay=60\nfdbpack-nice=1\nfdbpack_limit_core=0\n"
                    "[x]\ncommand=/bin/x\nfdbpack_nice = 5\nfdbpack-stop-grace = 2.5\n"
                    "[x.1]\nfdbpack_cwd=/d/$ID\nfdbpack_umask=027\nfdbpack_cpus=0-2, 5,1\n"
                    "fdbpack_oom_score_adj=-500\nfdbpack_limit_nofile=1024:4096\n"
                    "fdbpack-limit-memlock=unlimited\n")
                  .document,
              kForAgent);
  ASSERT_THAT(conf.processes, SizeIs(1));
  EXPECT_THAT(conf.processes[0].argv, ElementsAre("/bin/x"));
  const model::ProcessSettings& settings = conf.processes[0].settings;
  EXPECT_EQ(settings.nice, 5) << "the most particular level counts, in whichever spelling";
  EXPECT_EQ(settings.stop_grace, std::chrono::milliseconds(2500));
  EXPECT_EQ(settings.working_directory, "/d/1");
  EXPECT_EQ(settings.umask, 027u);
  EXPECT_THAT(settings.cpus, ElementsAre(0u, 1u, 2u, 5u));
  EXPECT_EQ(settings.oom_score_adj, -500);
  EXPECT_THAT(settings.limits,
              ElementsAre(model::Limit{"core", 0, 0},
                          model::Limit{"memlock", model::kUnlimited, model::kUnlimited},
                          model::Limit{"nofile", 1024, 4096}));
}

TEST(OwnKeys, WrongOnesAreErrorsWithTheirPlace) {
  for (const std::string line :
       {"fdbpack_stop_grace = soon", "fdbpack_stop_grace = -1", "fdbpack_stop_grace = 3601",
        "fdbpack_stop_grace = nan", "fdbpack_cwd = tmp", "fdbpack_umask = 888",
        "fdbpack_umask = 1000", "fdbpack_nice = 20", "fdbpack_nice =", "fdbpack_cpus = 3-1",
        "fdbpack_cpus = 1024", "fdbpack_cpus = ,", "fdbpack_oom_score_adj = 1001",
        "fdbpack_limit_nofile = 5:4", "fdbpack_limit_nofile = many", "fdbpack_limit_files = 1",
        "fdbpack_colour = red"}) {
    const std::string text = "[general]\nrestart-delay=60\n[x.1]\ncommand=/bin/x\n" + line + "\n";
    const auto found = check(text, kForAgent);
    ASSERT_THAT(found, SizeIs(1)) << line;
    EXPECT_EQ(found[0].severity, Severity::error) << line;
    EXPECT_EQ(found[0].at, (Position{5, 1})) << line;
  }
}

TEST(OwnKeys, AreWarnedAboutWhereFdbmonitorIsMeant) {
  EXPECT_THAT(check_text("[general]\nrestart-delay=60\n[x.1]\ncommand=/bin/x\nfdbpack_nice=1\n"),
              ElementsAre("5:1: warning: 'fdbpack_nice' is a key of fdbpack-agent; fdbmonitor "
                          "passes it on to the process, which does not start with it"));
}

// Of a size at which looking through all sections for each process would take minutes.
TEST(MonitorConf, ReadsAFileOfManySections) {
  constexpr std::size_t kSections = 100'000;
  std::string text = kStart;
  for (std::size_t i = 0; i < kSections; ++i)
    text += "[fdbserver." + std::to_string(i) + "]\nx = $ID\n";
  const auto conf = resolve_text(text);
  ASSERT_THAT(conf.processes, SizeIs(kSections));
  EXPECT_THAT(conf.processes.back().argv, ElementsAre("/bin/x", "--x=99999"));
}

TEST(EnvFile, ValuesLoseTheirQuotesAndMayHoldNoOthers) {
  const auto good = parse_env_file("A=\"10.0.0.1\"\nB='x y'\nC=\n");
  ASSERT_TRUE(good.has_value()) << good.error().message;
  EXPECT_EQ(good->at("A"), "10.0.0.1");
  EXPECT_EQ(good->at("B"), "x y");
  EXPECT_EQ(good->at("C"), "");
  EXPECT_EQ(parse_env_file("A=\"x\n").error().message, "line 1: A has a quote that is not closed");
  EXPECT_EQ(parse_env_file("A=a\"b\n").error().message, "line 1: A has a quote within its value");
  EXPECT_EQ(parse_env_file("A=a\tb\n").error().message,
            "line 1: A has a control character in its value");
}

TEST(EnvFile, MayComeFromAnyEditor) {
  const auto environment = parse_env_file("\xEF\xBB\xBF# a host\r\nFDB_POD_IP=10.0.0.1\r\n");
  ASSERT_TRUE(environment.has_value());
  EXPECT_EQ(environment->at("FDB_POD_IP"), "10.0.0.1");
}

}  // namespace
}  // namespace fdbpack::conf
