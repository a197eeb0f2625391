// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/base/random.hpp"
#include "fdbpack/launcher/configuration.hpp"
#include "fdbpack/launcher/copy_plan.hpp"
#include "fdbpack/launcher/environment.hpp"
#include "fdbpack/launcher/metrics.hpp"
#include "fdbpack/launcher/pod.hpp"
#include "fdbpack/supervise/backoff.hpp"
#include "fdbpack/supervise/conf_change.hpp"
#include "fdbpack/wire/pod_json.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace fdbpack::launcher {
namespace {

using std::chrono_literals::operator""h;
using std::chrono_literals::operator""min;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

Rules rules() {
  Rules rules;
  rules.container_version = "7.1.51";
  rules.fdbserver_path = "/own/fdbserver";
  rules.shared_binary_dir = "/shared/bin";
  rules.process_count = 2;
  return rules;
}

conf::UnifiedConf configuration(const std::string& version) {
  conf::UnifiedConf conf;
  conf.version = version;
  conf::UnifiedArgument argument;
  argument.type = "ProcessNumber";
  argument.offset = 4499;
  argument.multiplier = 2;
  conf.arguments = {argument};
  return conf;
}

TEST(LauncherConfiguration, ChoosesTheBinaryByVersion) {
  const auto path = [](const std::string& version) {
    return interpret(configuration(version), rules(), false).value().binary_path;
  };
  EXPECT_EQ(path("7.1.51"), "/own/fdbserver");
  EXPECT_EQ(path("7.1.57"), "/own/fdbserver");
  EXPECT_EQ(path("7.3.37"), "/shared/bin/7.3.37/fdbserver");
  EXPECT_EQ(path("7.1.0-rc1"), "/shared/bin/7.1.0-rc1/fdbserver");
  EXPECT_EQ(path("../../x-7.3.37"), "/shared/bin/7.3.37/fdbserver");
  EXPECT_FALSE(interpret(configuration("latest"), rules(), false));
}

TEST(LauncherConfiguration, NumbersItsProcessesAndLetsThemRunOverChanges) {
  const auto read = interpret(configuration("7.1.51"), rules(), false).value();
  const auto conf = processes_of(read, rules(), {}).value();
  ASSERT_EQ(conf.processes.size(), 2U);
  EXPECT_EQ(conf.processes[1].section, "fdbserver.2");
  EXPECT_EQ(conf.processes[1].argv, (std::vector<std::string>{"/own/fdbserver", "4503"}));
  EXPECT_FALSE(conf.processes[1].kill_on_configuration_change);
  EXPECT_EQ(number_of("fdbserver.2"), 2);
  EXPECT_EQ(number_of("fdbserver.x"), std::nullopt);
  EXPECT_EQ(number_of("fdbserver"), std::nullopt);
}

TEST(LauncherConfiguration, StopsWhatIsNotWantedAnyMore) {
  const auto isolated = interpret(configuration("7.1.51"), rules(), true).value();
  const auto conf = processes_of(isolated, rules(), {}).value();
  EXPECT_TRUE(conf.processes.empty());
  supervise::Supervised runs;
  runs.section = "fdbserver.1";
  runs.kill_on_change = false;
  runs.is_alive = true;
  const std::vector<supervise::Supervised> now{runs};
  const auto changes = supervise::plan_changes(now, conf);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].kind, supervise::ChangeKind::deconfigured_kill);
}

TEST(LauncherConfiguration, IsRefusedWhenItCouldNotRunEvenIfNothingIsToRun) {
  auto conf = configuration("7.1.51");
  conf.arguments[0].type = "Environment";
  conf.arguments[0].source = "MISSING";
  conf.run_servers = false;
  const auto read = interpret(conf, rules(), false).value();
  const auto processes = processes_of(read, rules(), {});
  ASSERT_FALSE(processes);
  EXPECT_EQ(processes.error().message, "missing environment variable MISSING");
}

std::vector<int> delays(supervise::ExitClass end, Duration each_ran, int count) {
  std::vector<int> result;
  Random random(7);
  Instant now;
  auto backoff = supervise::fresh_backoff(restart_policy());
  for (int i = 0; i < count; ++i) {
    backoff = supervise::note_start(backoff, now);
    now += each_ran;
    const auto next = supervise::next_restart(backoff, end, restart_policy(), now, random);
    backoff = next.backoff;
    now += next.delay;
    result.push_back(static_cast<int>(next.delay / 1s));
  }
  return result;
}

TEST(LauncherLadder, IsMadeOfSquaresWithoutJitter) {
  EXPECT_EQ(delays(supervise::ExitClass::failure, 3s, 11),
            (std::vector<int>{0, 1, 4, 9, 16, 25, 36, 49, 60, 60, 60}));
}

TEST(LauncherLadder, BeginsAgainAfterFiveMinutes) {
  EXPECT_EQ(delays(supervise::ExitClass::failure, 301s, 4), (std::vector<int>{0, 0, 0, 0}));
}

TEST(LauncherLadder, StartsAtOnceAfterACleanEndButDoesNotSpin) {
  EXPECT_EQ(delays(supervise::ExitClass::clean, 10s, 20), std::vector<int>(20, 0));
  const auto quick = delays(supervise::ExitClass::clean, 0s, 8);
  EXPECT_EQ(std::vector<int>(quick.begin(), quick.begin() + 5), std::vector<int>(5, 0));
  EXPECT_GE(quick[6], 1);
}

TEST(LauncherEnvironment, ReadsExportLinesAsTheyAre) {
  const auto read = parse_additional_environment(
      "export A=1\nexport B=\"two words\"\nC=3\n  export D=x=y\n\nexport E F=1\nexport G=\n");
  EXPECT_EQ(read.variables,
            (conf::Environment{{"A", "1"}, {"B", "\"two words\""}, {"D", "x=y"}, {"G", ""}}));
  EXPECT_EQ(read.refused, (std::vector<std::string>{"C=3", "", "export E F=1"}));
  EXPECT_TRUE(parse_additional_environment("").refused.empty());
}

TEST(LauncherPod, ReadsGoDurations) {
  const auto parsed = [](std::string_view text) { return parse_go_duration(text); };
  EXPECT_EQ(parsed("60s"), Duration(60s));
  EXPECT_EQ(parsed("1m30s"), Duration(90s));
  EXPECT_EQ(parsed("1.5h"), Duration(90min));
  EXPECT_EQ(parsed("300ms"), Duration(300ms));
  EXPECT_EQ(parsed("-2s"), Duration(-2s));
  EXPECT_EQ(parsed("0"), Duration::zero());
  for (const char* bad : {"", "60", "s", "1x", "1.2.3s", ".s", "1s2"}) {
    EXPECT_EQ(parsed(bad), std::nullopt) << bad;
  }
  EXPECT_GT(parsed("99999999999999999999h").value(), Duration(24h));
  EXPECT_EQ(shutdown_delay({{std::string(kDelayShutdown), "-5s"}}), std::nullopt);
  EXPECT_EQ(shutdown_delay({{std::string(kDelayShutdown), "5s"}}), Duration(5s));
}

TEST(LauncherConfiguration, RefusesNumbersThatDoNotFit) {
  for (const bool is_offset : {false, true}) {
    auto conf = configuration("7.1.51");
    auto& number = is_offset ? conf.arguments[0].offset : conf.arguments[0].multiplier;
    number = std::numeric_limits<std::int64_t>::max();
    EXPECT_FALSE(conf::generate_all(conf, 2, {}, ""));
    number = std::int64_t{1} << 40;
    EXPECT_TRUE(conf::generate_all(conf, 2, {}, ""));
  }
}

TEST(LauncherConfiguration, RefusesAValueWithANul) {
  auto conf = configuration("7.1.51");
  conf.arguments[0].type = "Literal";
  conf.arguments[0].value = std::string("--a=b\0c", 7);
  EXPECT_FALSE(conf::generate_all(conf, 1, {}, ""));
  conf.arguments[0].value = "--a=bc";
  EXPECT_TRUE(conf::generate_all(conf, 1, {}, ""));
}

TEST(LauncherConfiguration, KnowsTheVersionOfABinaryByItsPlace) {
  EXPECT_EQ(version_of_binary("/own/fdbserver", rules()), "7.1.51");
  EXPECT_EQ(version_of_binary("/shared/bin/7.3.37/fdbserver", rules()), "7.3.37");
  for (const char* other : {"", "fdbserver", "/shared/bin/fdbserver", "/other/7.3.37/fdbserver",
                            "/shared/bin/7.3.37/fdbcli", "/shared/bin/x/fdbserver"}) {
    EXPECT_EQ(version_of_binary(other, rules()), "") << other;
  }
}

TEST(LauncherMetrics, ShowBothVersionsDuringAnUpgrade) {
  Metrics metrics;
  const auto has = [&](const std::string& sample) {
    return metrics.text().find("running_version{version=" + sample) != std::string::npos;
  };
  metrics.process_started(2, WallTime(3500ms));
  metrics.set_running({"7.1.57", "7.3.37"});
  EXPECT_TRUE(has("\"7.1.57\"} 1\n"));
  EXPECT_TRUE(has("\"7.3.37\"} 1\n"));
  metrics.set_running({"7.3.37"});
  EXPECT_TRUE(has("\"7.1.57\"} 0\n"));
  EXPECT_TRUE(has("\"7.3.37\"} 1\n"));
  metrics.set_running({});
  EXPECT_TRUE(has("\"7.3.37\"} 0\n"));
  EXPECT_NE(metrics.text().find("start_timestamp{process=\"2\"} 3.5\n"), std::string::npos);
}

TEST(LauncherCopy, PutsFilesUnderTheOutputDirectory) {
  EXPECT_EQ(output_path("/out", "/in/sub/file", ""), "/out/file");
  EXPECT_EQ(output_path("/out", "/usr/bin/x", "bin/7.1.3/x"), "/out/bin/7.1.3/x");
}

TEST(LauncherWire, ReadsPodsAndEvents) {
  const auto pod = wire::read_metadata(
      R"({"metadata":{"name":"p","resourceVersion":"7","annotations":{"a":"b","n":3},
          "deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{}})");
  ASSERT_TRUE(pod);
  EXPECT_EQ(pod->annotations, (Annotations{{"a", "b"}}));
  EXPECT_TRUE(pod->is_being_deleted);
  EXPECT_FALSE(wire::read_metadata("[]"));
  EXPECT_FALSE(wire::read_metadata("{\"metadata\":"));
  const auto gone = wire::read_watch_event(
      R"({"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}})");
  EXPECT_EQ(gone.value().message, "too old");
  EXPECT_FALSE(wire::read_watch_event("{}"));
  EXPECT_FALSE(wire::read_watch_event("7"));
  EXPECT_EQ(wire::write_annotation_patch({{"a", "\"<"}}),
            R"({"metadata":{"annotations":{"a":"\"<"}}})");
  EXPECT_EQ(wire::write_string_map({{"a", "\"<"}}), R"({"a":"\"\u003c"})");
}

}  // namespace
}  // namespace fdbpack::launcher
