// SPDX-License-Identifier: Apache-2.0
//
// fdb-kubernetes-monitor's own test cases, beside those of versions (model_identity_test.cpp) and
// of arguments (render_golden_test.cpp).
#include "fdbpack/base/random.hpp"
#include "fdbpack/launcher/configuration.hpp"
#include "fdbpack/launcher/copy_plan.hpp"
#include "fdbpack/launcher/environment.hpp"
#include "fdbpack/launcher/metrics.hpp"
#include "fdbpack/launcher/pod.hpp"
#include "fdbpack/supervise/backoff.hpp"
#include "fdbpack/wire/pod_json.hpp"
#include "fdbpack/wire/unified_json.hpp"
#include "tests/support/goldens.hpp"

#include <map>
#include <set>
#include <sstream>

namespace fdbpack::launcher {
namespace {

using nlohmann::json;

conf::Environment environment_of(const json& object) {
  conf::Environment result;
  if (object.is_null()) return result;
  for (const auto& [name, value] : object.items())
    result.emplace(name, value.get<std::string>());
  return result;
}

TEST(LauncherBackoff, IsTheSame) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "monitor/k8smonitor_backoff");
  const auto cases = support::golden_cases(folder);
  ASSERT_EQ(cases.size(), 5U);
  for (const auto& golden : cases) {
    SCOPED_TRACE(golden.name);
    Random random(1);
    Instant now;
    const auto policy = restart_policy();
    auto backoff = supervise::fresh_backoff(policy);
    Duration delay{};
    const int errors = golden.json.at("error_count");
    for (int failure = 0; failure <= errors; ++failure) {
      backoff = supervise::note_start(backoff, now);
      now += std::chrono::seconds(30);
      const auto next =
          supervise::next_restart(backoff, supervise::ExitClass::failure, policy, now, random);
      backoff = next.backoff;
      delay = next.delay;
    }
    EXPECT_EQ(delay, std::chrono::seconds(golden.json.at("expected_seconds").get<int>()));
  }
}

CopyRequest copy_request(const json& input) {
  CopyRequest request;
  request.mode = input.at("mode") == "init" ? CopyMode::init : CopyMode::sidecar;
  request.input_dir = input.at("inputDir");
  request.primary_library = input.at("copyPrimaryLibrary");
  request.binary_output_dir = input.at("binaryOutputDirectory");
  request.files = input.at("copyFiles").get<std::vector<std::string>>();
  request.binaries = input.at("copyBinaries").get<std::vector<std::string>>();
  request.libraries = input.at("copyLibraries").get<std::vector<std::string>>();
  request.required = input.at("requiredCopyFiles").get<std::vector<std::string>>();
  request.container_version = input.at("currentContainerVersion");
  return request;
}

// What the plans do to files is in tests/launcher/copy_test.cpp.
TEST(LauncherCopies, ArePlannedAlike) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "monitor/k8smonitor_copy");
  std::size_t seen = 0;
  const auto cases = support::golden_cases(folder);
  for (const auto& golden : cases) {
    if (golden.json.at("kind") != "get_copy_details") continue;
    SCOPED_TRACE(golden.name);
    ++seen;
    const json& expected = golden.json.at("expected");
    const auto plan = plan_copies(copy_request(golden.json.at("input")));
    if (expected.contains("error")) {
      ASSERT_FALSE(plan);
      EXPECT_EQ(plan.error().message, expected.at("error"));
      continue;
    }
    ASSERT_TRUE(plan);
    EXPECT_EQ(json(plan->targets), expected.at("copyDetails"));
    json required = json::object();
    for (const auto& source : plan->required)
      required[source] = true;
    EXPECT_EQ(required, expected.at("requiredCopies"));
  }
  EXPECT_EQ(seen, 12U);
}

// The samples of one family by the value of their label; "" where there is none.
std::map<std::string, std::string> samples(const std::string& text, const std::string& name) {
  std::map<std::string, std::string> found;
  std::istringstream lines(text);
  const std::string prefix = "fdbkubernetesmonitor_" + name;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(prefix + "{") && !line.starts_with(prefix + " ")) continue;
    const auto quote = line.find('"');
    const std::string label =
        quote == std::string::npos ? "" : line.substr(quote + 1, line.rfind('"') - quote - 1);
    found[label] = line.substr(line.rfind(' ') + 1);
  }
  return found;
}

std::size_t families(const std::string& text) {
  std::size_t count = 0;
  for (auto at = text.find("# TYPE "); at != std::string::npos; at = text.find("# TYPE ", at + 1))
    ++count;
  return count;
}

std::map<std::string, std::string> as_text(const json& values) {
  std::map<std::string, std::string> result;
  if (values.is_number()) return {{"", values.dump()}};
  for (const auto& [label, value] : values.items())
    result[label] = value.dump();
  return result;
}

TEST(LauncherMetrics, AreTheSame) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "monitor/k8smonitor_metrics");
  const json golden = support::read_golden(folder / "series.json");
  ASSERT_EQ(golden.at("cases").size(), 8U);
  for (const auto& expected : golden.at("cases")) {
    SCOPED_TRACE(expected.dump());
    Metrics metrics;
    std::map<int, std::string> running;
    WallTime now{std::chrono::seconds(1'700'000'000)};
    for (const std::string event : expected.at("events")) {
      std::istringstream words(event);
      std::string what;
      std::string version;
      int number = 0;
      words >> what;
      if (what == "start") words >> number;
      words >> version;
      if (what == "start") {
        metrics.process_started(number, now);
        running[number] = version;
        std::set<std::string> versions;
        for (const auto& [process, its_version] : running)
          versions.insert(its_version);
        metrics.set_running(versions);
      } else {
        metrics.configuration_applied(version, now);
      }
      now += std::chrono::seconds(1);
    }
    const std::string text = metrics.text();
    EXPECT_EQ(families(text), expected.at("families")) << text;
    for (const char* name :
         {"configuration_change_count", "desired_version", "restart_count", "running_version"}) {
      if (!expected.contains(name)) continue;
      EXPECT_EQ(samples(text, name), as_text(expected.at(name)));
    }
  }
}

TEST(LauncherMonitor, ReadsConfigurationsAndLabelsAlike) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "monitor/k8smonitor_monitor");
  const auto cases = support::golden_cases(folder);
  ASSERT_EQ(cases.size(), 5U);
  for (const auto& golden : cases) {
    SCOPED_TRACE(golden.name);
    const json file = golden.json;
    if (file.at("kind") == "node_labels") {
      const auto environment = with_node_labels(environment_of(file.at("env_before")),
                                                environment_of(file.at("labels")));
      EXPECT_EQ(environment, environment_of(file.at("expected_env")));
      continue;
    }
    const auto conf = wire::read_unified_conf(file.at("file").get<std::string>());
    if (file.at("expected").is_null()) {
      EXPECT_FALSE(conf);
      continue;
    }
    ASSERT_TRUE(conf);
    Rules rules;
    rules.container_version = file.at("container_version");
    rules.fdbserver_path = "<fdbserver-path>";
    const bool isolated =
        file.contains("pod_annotations") && is_isolated(environment_of(file.at("pod_annotations")));
    const auto read = interpret(*conf, rules, isolated);
    ASSERT_TRUE(read);
    const json& expected = file.at("expected");
    EXPECT_EQ(read->conf.version, expected.at("version"));
    EXPECT_EQ(read->binary_path, expected.at("binaryPath"));
    const json run = read->conf.run_servers ? json(*read->conf.run_servers) : json(nullptr);
    EXPECT_EQ(run, expected.at("runServers"));
    EXPECT_EQ(read->conf.arguments.size(), expected.at("arguments").size());
  }
}

void check_event(const json& file) {
  const auto request = reload_request(environment_of(file.at("old_annotations")),
                                      environment_of(file.at("new_annotations")));
  const std::string expected = file.at("expected");
  if (expected == "no signal") {
    EXPECT_EQ(request, std::nullopt);
    return;
  }
  ASSERT_TRUE(request);
  const bool is_now = expected == "reload signalled with now";
  EXPECT_EQ(request->is_now, is_now);
  if (!is_now) {
    EXPECT_EQ("reload signalled with " + std::to_string(request->outdated_at_s), expected);
  }
}

void check_annotations(const json& file) {
  const json document{{"version", "7.1.0"}, {"arguments", file.at("arguments")}};
  Configuration configuration;
  configuration.conf = wire::read_unified_conf(document.dump()).value();
  configuration.binary_path = file.at("binary_path");
  const auto used = used_environment(configuration, environment_of(file.at("env")));
  ASSERT_TRUE(used);
  EXPECT_EQ(wire::write_string_map(*used),
            file.at("expected").at(std::string(kLauncherEnvironment)));
}

// How many watches there are is seen at the API server: tests/launcher/kubernetes_test.cpp.
TEST(LauncherAnnotations, AreTheSame) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "monitor/k8smonitor_annotations");
  std::size_t seen = 0;
  const auto cases = support::golden_cases(folder);
  for (const auto& golden : cases) {
    SCOPED_TRACE(golden.name);
    const std::string kind = golden.json.at("kind");
    if (kind == "pod_update_event") check_event(golden.json);
    if (kind == "annotations") check_annotations(golden.json);
    if (kind != "informers") ++seen;
  }
  EXPECT_EQ(seen, 7U);
}

}  // namespace
}  // namespace fdbpack::launcher
