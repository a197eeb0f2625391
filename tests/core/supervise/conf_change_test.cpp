// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/supervise/conf_change.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace fdbpack::supervise {
namespace {

conf::MonitorConf conf_of(const std::string& text) {
  return conf::resolve(conf::parse(text).document);
}

const std::string kGeneral =
    "[fdbmonitor]\nuser = fdb\n[general]\nrestart-delay = 60\n"
    "[fdbserver]\ncommand = /usr/sbin/fdbserver\n";

// All sections of a conf as if they were running with it.
std::vector<Supervised> supervised(const conf::MonitorConf& conf) {
  std::vector<Supervised> all;
  for (const conf::ProcessCommand& command : conf.processes) {
    all.push_back({command.section, revision_of(command, conf.user, conf.group), command,
                   command.kill_on_configuration_change, true});
  }
  return all;
}

std::map<std::string, ChangeKind> changes(const std::string& before, const std::string& after) {
  const conf::MonitorConf new_conf = conf_of(after);
  std::map<std::string, ChangeKind> result;
  for (const Change& change : plan_changes(supervised(conf_of(before)), new_conf)) {
    result[change.section] = change.kind;
    const bool is_in_conf = change.kind != ChangeKind::deconfigured_kill &&
                            change.kind != ChangeKind::deconfigured_leave &&
                            change.kind != ChangeKind::refused;
    EXPECT_EQ(change.command != nullptr, is_in_conf) << change.section;
  }
  return result;
}

TEST(ConfChange, TouchesOnlyWhatChanged) {
  const std::string before = kGeneral +
                             "[fdbserver.1]\na = 1\n[fdbserver.2]\na = 1\n[fdbserver.3]\n"
                             "[fdbserver.5]\nkill-on-configuration-change = false\n";
  const std::string after = kGeneral +
                            "[fdbserver.1]\na = 1\n[fdbserver.2]\na = 2\n[fdbserver.4]\n"
                            "[fdbserver.5]\nkill-on-configuration-change = false\nb = 1\n";
  const std::map<std::string, ChangeKind> expected = {
      {"fdbserver.1", ChangeKind::unchanged},
      {"fdbserver.2", ChangeKind::changed_kill},
      {"fdbserver.3", ChangeKind::deconfigured_kill},
      {"fdbserver.4", ChangeKind::start},
      {"fdbserver.5", ChangeKind::changed_pending}};
  EXPECT_EQ(changes(before, after), expected);
}

TEST(ConfChange, LeavesARemovedProcessThatMustNotBeKilled) {
  const std::string before =
      kGeneral + "[fdbserver.1]\nkill-on-configuration-change = false\n[fdbserver.2]\n";
  EXPECT_EQ(changes(before, kGeneral + "[fdbserver.2]\n").at("fdbserver.1"),
            ChangeKind::deconfigured_leave);
}

TEST(ConfChange, TakesRestartKeysAndEnvironmentForSettings) {
  const std::string before = kGeneral + "[fdbserver.1]\n";
  for (const std::string line :
       {"restart-delay = 5", "restart-backoff = 3", "envvars = A=1", "delete-envvars = B",
        "disable-lifecycle-logging = true", "kill-on-configuration-change = false"}) {
    SCOPED_TRACE(line);
    const auto conf =
        conf::resolve(conf::parse(before + line + "\n").document, {conf::Dialect::v7_4, "$PID"});
    const auto now = supervised(conf::resolve(conf::parse(before).document));
    EXPECT_EQ(plan_changes(now, conf).at(0).kind, ChangeKind::settings);
  }
}

TEST(ConfChange, TakesTheAgentsOwnKeysForSettings) {
  const conf::ResolveOptions options{conf::Dialect::v7_4, "$PID", true};
  const std::string before = kGeneral + "[fdbserver.1]\n";
  const auto without = conf::resolve(conf::parse(before).document, options);
  const auto revision = revision_of(without.processes.at(0), "", "");
  EXPECT_EQ(revision, revision_of(conf_of(before).processes.at(0), "", ""));
  for (const std::string line :
       {"fdbpack_stop_grace = 5", "fdbpack_nice = 3", "fdbpack_umask = 027", "fdbpack_cwd = /tmp",
        "fdbpack_cpus = 0", "fdbpack_oom_score_adj = 3", "fdbpack_limit_core = 0"}) {
    SCOPED_TRACE(line);
    const auto with = conf::resolve(conf::parse(before + line + "\n").document, options);
    EXPECT_EQ(plan_changes(supervised(without), with).at(0).kind, ChangeKind::settings);
    const auto changed = revision_of(with.processes.at(0), "", "");
    EXPECT_EQ(changed.command, revision.command) << "worth no restart";
    const bool is_grace = line.find("grace") != line.npos;
    EXPECT_EQ(changed.settings == revision.settings, is_grace) << "waits for the next start";
    EXPECT_EQ(policy_of(with.processes.at(0), std::chrono::seconds(9)).stop_grace,
              std::chrono::seconds(is_grace ? 5 : 9));
  }
}

TEST(ConfChange, IgnoresWhereASectionStands) {
  const std::string before = kGeneral + "[fdbserver.1]\n[fdbserver.2]\n";
  const auto result = changes(before, "# moved\n" + kGeneral + "[fdbserver.2]\n[fdbserver.1]\n");
  for (const auto& [section, kind] : result)
    EXPECT_EQ(kind, ChangeKind::unchanged) << section;
}

TEST(ConfChange, TakesANewUserForANewCommandLineOfAll) {
  const std::string before = kGeneral + "[fdbserver.1]\n";
  const std::string after =
      "[fdbmonitor]\nuser = other\n" + before.substr(before.find("[general]"));
  EXPECT_EQ(changes(before, after).at("fdbserver.1"), ChangeKind::changed_kill);
}

// goldens: bad_flag_on_reload, broken_section_then_fixed
TEST(ConfChange, LeavesAloneWhatRunsUnderAFaultySectionAndStartsItWhenFixed) {
  const std::string good = kGeneral + "[fdbserver.1]\n";
  const std::string broken = good + "flag_x = maybe\n";
  EXPECT_EQ(changes(good, broken).at("fdbserver.1"), ChangeKind::refused);
  EXPECT_EQ(changes(kGeneral, broken).at("fdbserver.1"), ChangeKind::refused);
  EXPECT_EQ(changes(broken, good).at("fdbserver.1"), ChangeKind::start);
}

TEST(ConfChange, ComparesWithWhatRunsNotWithTheConfBefore) {
  const conf::MonitorConf first = conf_of(kGeneral + "[fdbserver.1]\na = 1\n");
  const conf::MonitorConf second =
      conf_of(kGeneral + "[fdbserver.1]\na = 2\nkill-on-configuration-change = false\n");
  const conf::MonitorConf third = conf_of(kGeneral + "[fdbserver.1]\na = 2\n");
  auto now = supervised(first);
  EXPECT_EQ(plan_changes(now, second).at(0).kind, ChangeKind::changed_pending);
  now[0].command = second.processes.at(0);  // configured, but the old command line still runs
  EXPECT_EQ(plan_changes(now, third).at(0).kind, ChangeKind::changed_kill);
  EXPECT_EQ(plan_changes(now, first).at(0).kind, ChangeKind::settings);
}

TEST(ConfChange, AdoptsWithoutATouchWhatRunsAsConfigured) {
  const conf::MonitorConf conf = conf_of(kGeneral + "[fdbserver.1]\n");
  auto now = supervised(conf);
  now[0].command.reset();
  EXPECT_EQ(plan_changes(now, conf).at(0).kind, ChangeKind::settings);
}

TEST(ConfChange, ComparesSectionNamesWithoutRegardToCase) {
  const conf::MonitorConf conf = conf_of(kGeneral + "[fdbserver.ab]\n");
  auto now = supervised(conf);
  now[0].section = "FDBServer.AB";
  ASSERT_EQ(plan_changes(now, conf).size(), 1u);
  EXPECT_EQ(plan_changes(now, conf).at(0).kind, ChangeKind::unchanged);
}

TEST(ConfChange, MakesThePolicyOfASection) {
  const conf::MonitorConf conf =
      conf_of(kGeneral + "[fdbserver.1]\nrestart-delay = 7\ndisable-lifecycle-logging = true\n");
  const Policy policy = policy_of(conf.processes.at(0), std::chrono::seconds(3));
  EXPECT_EQ(policy.section, "fdbserver.1");
  EXPECT_EQ(policy.command, "/usr/sbin/fdbserver");
  EXPECT_EQ(policy.restart.delay_max, std::chrono::seconds(7));
  EXPECT_EQ(policy.stop_grace, std::chrono::seconds(3));
  EXPECT_TRUE(policy.is_quiet);
}

TEST(Revision, TellsPartsApart) {
  conf::ProcessCommand a;
  a.argv = {"x", "yz"};
  conf::ProcessCommand b;
  b.argv = {"xy", "z"};
  EXPECT_NE(revision_of(a, "", "").command, revision_of(b, "", "").command);
  EXPECT_NE(revision_of(a, "u", "").command, revision_of(a, "", "u").command);
  b = a;
  a.environment = {{"A", "1"}};
  EXPECT_EQ(revision_of(a, "", "").command, revision_of(b, "", "").command);
  EXPECT_NE(revision_of(a, "", "").settings, revision_of(b, "", "").settings);
  b.deleted_environment = {"A"};
  EXPECT_NE(revision_of(a, "", "").settings, revision_of(b, "", "").settings);
}

// It is in state files on disk: another value would restart every adopted process.
TEST(Revision, NeverChangesItsValue) {
  conf::ProcessCommand command;
  command.argv = {"/usr/sbin/fdbserver", "--datadir=/var/lib/foundationdb/data/4500"};
  command.environment = {{"A", "1"}};
  const Revision revision = revision_of(command, "foundationdb", "foundationdb");
  EXPECT_EQ(revision.command, 2841460482086787038u);
  EXPECT_EQ(revision.settings, 13097463172396691636u);
}

}  // namespace
}  // namespace fdbpack::supervise
