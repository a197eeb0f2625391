// SPDX-License-Identifier: Apache-2.0
//
// The launcher and the Kubernetes API: what it reads and writes there, and that it needs none of
// it.
#include "tests/launcher/fixture.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <set>

namespace fdbpack::test {
namespace {

using nlohmann::json;

const std::string kPrefix = "foundationdb.org/";
constexpr Seconds kPatience{60};

#define API_SERVER_OR_SKIP(behaviour)                                 \
  if (!start_api_server(behaviour)) {                                 \
    GTEST_SKIP() << "there is no python3 to play the Kubernetes API"; \
  }                                                                   \
  static_assert(true, "a semicolon follows")

class LauncherInPod : public LauncherTest {
 protected:
  [[nodiscard]] bool wait_for_annotation(const std::string& name, const std::string& value) const {
    return wait([&] { return annotation(kPrefix + name) == value; }, kPatience);
  }
  [[nodiscard]] std::set<std::string> watched() const {
    std::set<std::string> collections;
    for (const auto& request : requests()) {
      const std::string target = request.at("target");
      if (target.find("watch=true") == std::string::npos) continue;
      collections.insert(target.substr(0, target.find('?')));
    }
    return collections;
  }
};

TEST_F(LauncherInPod, WritesConfigurationAndEnvironmentAndLeavesTheRestAlone) {
  API_SERVER_OR_SKIP("ok");
  auto conf = json::parse(configuration());
  conf["arguments"].push_back({{"type", "Environment"}, {"source", "FROM_POD"}});
  const std::string text = conf.dump(2) + "\n";
  write_configuration(text);
  auto environment = pod_environment(api_port());
  environment.push_back("FROM_POD=<value>");
  start_launcher({}, environment);
  ASSERT_TRUE(wait_for_annotation("launcher-current-configuration", text)) << "byte for byte";
  const std::string directory = child_program().substr(0, child_program().rfind('/'));
  ASSERT_TRUE(wait_for_annotation(
      "launcher-environment",
      "{\"BINARY_DIR\":\"" + directory + "\",\"FROM_POD\":\"\\u003cvalue\\u003e\"}"));
  EXPECT_EQ(annotation("other"), "kept");
  for (const auto& request : requests()) {
    if (request.at("method") != "PATCH") continue;
    EXPECT_EQ(request.at("type"), "application/merge-patch+json");
    EXPECT_EQ(json::parse(request.at("body").get<std::string>())["metadata"]["annotations"].count(
                  "other"),
              0U);
  }
  EXPECT_EQ(watched(), (std::set<std::string>{"/api/v1/namespaces/space/pods"}));
}

TEST_F(LauncherInPod, PutsBackWhatSomebodyTakesAway) {
  API_SERVER_OR_SKIP("ok");
  write_configuration(configuration());
  start_launcher({}, pod_environment(api_port()));
  ASSERT_TRUE(wait_for_annotation("launcher-current-configuration", configuration()));
  ASSERT_TRUE(wait([&] { return !watched().empty(); }));
  set_annotation(kPrefix + "launcher-current-configuration", "something else");
  EXPECT_TRUE(wait_for_annotation("launcher-current-configuration", configuration()));
}

TEST_F(LauncherInPod, StopsWhenTheProcessGroupIsIsolated) {
  API_SERVER_OR_SKIP("ok");
  write_configuration(configuration());
  start_launcher({}, pod_environment(api_port()));
  ASSERT_TRUE(wait_for_starts(id(1), 1));
  ASSERT_TRUE(wait([&] { return !watched().empty(); }));
  set_annotation(kPrefix + "isolate-process-group", "true");
  ASSERT_TRUE(wait([&] { return living().empty(); }));
  EXPECT_EQ(annotation(kPrefix + "launcher-current-configuration"), configuration());
  set_annotation(kPrefix + "isolate-process-group", "false");
  EXPECT_TRUE(wait_for_starts(id(1), 2));
}

TEST_F(LauncherInPod, IsIsolatedWhileTheConfigurationIsBroken) {
  API_SERVER_OR_SKIP("ok");
  write_configuration(configuration());
  start_launcher({}, pod_environment(api_port()));
  ASSERT_TRUE(wait_for_starts(id(1), 1));
  ASSERT_TRUE(wait([&] { return !watched().empty(); }));
  std::size_t from = log_size();
  write_configuration("{");
  ASSERT_TRUE(wait_for_log("keeping the last good one", from));
  set_annotation(kPrefix + "isolate-process-group", "true");
  ASSERT_TRUE(wait([&] { return living().empty(); }));
  EXPECT_EQ(annotation(kPrefix + "launcher-current-configuration"), configuration());
  const std::string file = dir().file("state/pod.json");
  ASSERT_TRUE(wait([&] { return read_file(file).find("isolate") != std::string::npos; }));
  ASSERT_EQ(stop_agent(), 0);

  // The next one has the last good configuration, too, though nothing runs by it.
  std::filesystem::remove(configuration_path());
  from = log_size();
  start_launcher({}, pod_environment(api_port()));
  ASSERT_TRUE(wait_for_log("keeping the last good one", from));
  ASSERT_TRUE(wait_for_log("Configuration in force", from));
  EXPECT_EQ(starts(id(1)), 1U);
  set_annotation(kPrefix + "isolate-process-group", "false");
  EXPECT_TRUE(wait_for_starts(id(1), 2, kPatience));
}

TEST_F(LauncherInPod, IsIsolatedWithoutTheBinary) {
  API_SERVER_OR_SKIP("ok");
  const std::string binary = dir().file("shared/7.3.37/fdbserver");
  std::filesystem::create_directories(dir().file("shared/7.3.37"));
  std::filesystem::copy_file(child_program(), binary);
  write_configuration(configuration({}, "7.3.37"));
  start_launcher({}, pod_environment(api_port()));
  ASSERT_TRUE(wait_for_starts(id(1), 1));
  ASSERT_TRUE(wait([&] { return !watched().empty(); }));
  std::filesystem::remove(binary);
  set_annotation(kPrefix + "isolate-process-group", "true");
  EXPECT_TRUE(wait([&] { return living().empty(); }));
}

TEST_F(LauncherInPod, LooksForABinaryOfAFileThatIsRefusedStill) {
  API_SERVER_OR_SKIP("ok");
  write_configuration(configuration());
  start_launcher({}, pod_environment(api_port()));
  ASSERT_TRUE(wait_for_starts(id(1), 1));
  ASSERT_TRUE(wait([&] { return !watched().empty(); }));
  write_configuration(configuration({}, "7.3.37"));
  ASSERT_TRUE(wait_for_log("keeping the last good one"));
  set_annotation(kPrefix + "isolate-process-group", "true");
  ASSERT_TRUE(wait([&] { return living().empty(); }));
  std::filesystem::create_directories(dir().file("shared/7.3.37"));
  std::filesystem::copy_file(child_program(), dir().file("shared/7.3.37/fdbserver"));
  EXPECT_TRUE(wait_for_log("Configuration in force: version 7.3.37"));
}

TEST_F(LauncherInPod, RemembersIsolationAndLabelsWithoutAServer) {
  API_SERVER_OR_SKIP("ok");
  auto conf = json::parse(configuration());
  conf["arguments"].push_back(
      {{"type", "Environment"}, {"source", "NODE_LABEL_TOPOLOGY_KUBERNETES_IO_ZONE"}});
  write_configuration(conf.dump());
  start_launcher({"--enable-node-watch"}, pod_environment(api_port()));
  ASSERT_TRUE(wait_for_starts(id(1), 1, kPatience));
  const std::string file = dir().file("state/pod.json");
  ASSERT_TRUE(wait([&] { return read_file(file).find("zone-a") != std::string::npos; }));
  ASSERT_EQ(stop_agent(), 0);
  set_behaviour("500");
  start_launcher({"--enable-node-watch"}, pod_environment(api_port()));
  ASSERT_TRUE(wait_for_starts(id(1), 2)) << "the label is known from before";
  set_behaviour("ok");
  set_annotation(kPrefix + "isolate-process-group", "true");
  ASSERT_TRUE(
      wait([&] { return read_file(file).find("isolate") != std::string::npos; }, kPatience));
  ASSERT_EQ(stop_agent(), 0);
  set_behaviour("500");
  const std::size_t from = log_size();
  start_launcher({"--enable-node-watch"}, pod_environment(api_port()));
  ASSERT_TRUE(wait_for_log("no processes", from));
  EXPECT_EQ(starts(id(1)), 2U);
}

TEST_F(LauncherInPod, ReadsTheFileAgainWhenItIsSaidToBeOutdated) {
  API_SERVER_OR_SKIP("ok");
  write_configuration(configuration());
  start_launcher({}, pod_environment(api_port()));
  ASSERT_TRUE(wait_for_annotation("launcher-current-configuration", configuration()));
  ASSERT_TRUE(wait([&] { return !watched().empty(); }));
  const auto now = std::chrono::system_clock::now().time_since_epoch() / std::chrono::seconds(1);
  const std::size_t from = log_size();
  set_annotation(kPrefix + "outdated-config-map-seen", "boom!");
  set_annotation(kPrefix + "outdated-config-map-seen", std::to_string(now + 5));
  EXPECT_TRUE(wait_for_log("Loading configuration", from));
}

TEST_F(LauncherInPod, TakesLabelsOfTheNodeForVariables) {
  API_SERVER_OR_SKIP("ok");
  auto conf = json::parse(configuration());
  conf["arguments"].push_back(
      {{"type", "Concatenate"},
       {"values",
        {{{"value", "--zone="}},
         {{"type", "Environment"}, {"source", "NODE_LABEL_TOPOLOGY_KUBERNETES_IO_ZONE"}}}}});
  write_configuration(conf.dump());
  start_launcher({"--enable-node-watch"}, pod_environment(api_port()));
  ASSERT_TRUE(wait_for_starts(id(1), 1, kPatience)) << "it cannot start before the label is known";
  const std::string argv = read_file("/proc/" + std::to_string(last_pid(id(1))) + "/cmdline");
  EXPECT_NE(argv.find("--zone=zone-a"), std::string::npos);
  EXPECT_TRUE(wait([&] {
    return watched() == std::set<std::string>{"/api/v1/namespaces/space/pods", "/api/v1/nodes"};
  }));
}

TEST_F(LauncherInPod, AnnouncesAChangeOfTheClusterFile) {
  API_SERVER_OR_SKIP("ok");
  write_configuration(configuration());
  start_launcher({}, pod_environment(api_port()));
  ASSERT_TRUE(wait_for_annotation("launcher-current-configuration", configuration()));
  EXPECT_EQ(annotation(kPrefix + "cluster-file-change"), "");
  replace_file(dir().file("fdb.cluster"), "a:b@127.0.0.1:4500\n");
  EXPECT_TRUE(wait([&] { return annotation(kPrefix + "cluster-file-change").size() >= 10; }));
}

TEST_F(LauncherInPod, StaysAsLongAsThePodAsks) {
  API_SERVER_OR_SKIP("ok");
  write_configuration(configuration());
  set_annotation(kPrefix + "delay-shutdown", "2s");
  start_launcher({}, pod_environment(api_port()));
  ASSERT_TRUE(wait_for_annotation("launcher-current-configuration", configuration()));
  ASSERT_TRUE(wait([&] { return !watched().empty(); }));
  const auto begin = std::chrono::steady_clock::now();
  signal_agent(SIGTERM);
  ASSERT_TRUE(wait([&] { return living().empty(); })) << "processes are stopped at once";
  EXPECT_TRUE(is_alive(agent_pid()));
  EXPECT_EQ(wait_for_agent(), 0);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
}

TEST_F(LauncherInPod, LeavesAtOnceForASecondSignal) {
  API_SERVER_OR_SKIP("ok");
  write_configuration(configuration());
  set_annotation(kPrefix + "delay-shutdown", "10m");
  start_launcher({}, pod_environment(api_port()));
  ASSERT_TRUE(wait_for_annotation("launcher-current-configuration", configuration()));
  ASSERT_TRUE(wait([&] { return !watched().empty(); }));
  signal_agent(SIGTERM);
  ASSERT_TRUE(wait_for_log("the pod asks to stay a while"));
  signal_agent(SIGTERM);
  EXPECT_EQ(wait_for_agent(), 0);
}

// ---- faults: processes start whatever the API server does, and annotations follow when they can

struct Trouble {
  const char* name;
  const char* behaviour;
};
void PrintTo(const Trouble& trouble, std::ostream* stream) {
  *stream << trouble.behaviour;
}

class LauncherApiTrouble : public LauncherInPod, public ::testing::WithParamInterface<Trouble> {};

TEST_P(LauncherApiTrouble, NeverHoldsBackAProcess) {
  API_SERVER_OR_SKIP(GetParam().behaviour);
  write_configuration(configuration());
  start_launcher({}, pod_environment(api_port()));
  ASSERT_TRUE(wait_for_starts(id(1), 1));
  ASSERT_TRUE(wait([&] { return !requests().empty(); })) << "it did ask";
  EXPECT_EQ(annotation(kPrefix + "launcher-current-configuration"), "");
  ASSERT_TRUE(Pidfd(last_pid(id(1))).send(SIGKILL));
  ASSERT_TRUE(wait_for_starts(id(1), 2));
  EXPECT_EQ(get("/readyz").status, 200);
  set_behaviour("ok");
  EXPECT_TRUE(wait_for_annotation("launcher-current-configuration", configuration()));
  EXPECT_EQ(stop_agent(), 0);
}

INSTANTIATE_TEST_SUITE_P(Servers, LauncherApiTrouble,
                         ::testing::Values(Trouble{"Hangs", "hang"}, Trouble{"Answers500", "500"},
                                           Trouble{"ClosesInTheBody", "cut"}),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_F(LauncherInPod, EndsInTimeWhileTheServerHangs) {
  API_SERVER_OR_SKIP("hang");
  write_configuration(configuration());
  start_launcher({}, pod_environment(api_port()));
  ASSERT_TRUE(wait_for_starts(id(1), 1));
  ASSERT_TRUE(wait([&] { return !requests().empty(); }));
  EXPECT_EQ(stop_agent(Seconds(5)), 0);
}

TEST_F(LauncherInPod, RunsWithoutAServerThatListens) {
  write_configuration(configuration());
  start_launcher({}, pod_environment(free_port()));
  ASSERT_TRUE(wait_for_starts(id(1), 1));
  EXPECT_TRUE(wait_for_log("does not work"));
  EXPECT_EQ(stop_agent(), 0);
}

TEST_F(LauncherInPod, RunsWhenNobodyAcceptsTheConnection) {
  const DeafServer server;
  write_file(dir().file("account/token"), "t");
  write_configuration(configuration());
  start_launcher({}, pod_environment(server.port()));
  EXPECT_TRUE(wait_for_starts(id(1), 1));
  EXPECT_EQ(stop_agent(), 0);
}

TEST_F(LauncherInPod, ReadsTheTokenAgainWhenItHasExpired) {
  API_SERVER_OR_SKIP("ok");
  replace_file(dir().file("api/token"), "second-token");
  write_configuration(configuration());
  start_launcher({}, pod_environment(api_port()));
  ASSERT_TRUE(wait_for_starts(id(1), 1));
  ASSERT_TRUE(wait_for_log("answered 401 (Unauthorized)"));
  replace_file(dir().file("account/token"), "second-token\n");
  EXPECT_TRUE(wait_for_annotation("launcher-current-configuration", configuration()));
}

TEST_F(LauncherInPod, DoesNotSpeakToAServerOfAnotherAuthority) {
  API_SERVER_OR_SKIP("ok");
  const std::string authority = read_file(dir().file("account/ca.crt"));
  replace_file(dir().file("account/ca.crt"), read_file(dir().file("api/server.pem")));
  write_configuration(configuration());
  start_launcher({}, pod_environment(api_port()));
  ASSERT_TRUE(wait_for_starts(id(1), 1));
  ASSERT_TRUE(wait_for_log("certificate verify failed"));
  EXPECT_TRUE(requests().empty()) << "no token was shown to it";
  replace_file(dir().file("account/ca.crt"), authority);
  EXPECT_TRUE(wait_for_annotation("launcher-current-configuration", configuration()));
}

TEST_F(LauncherInPod, RunsWithoutAServiceAccount) {
  API_SERVER_OR_SKIP("ok");
  unlink(dir().file("account/token").c_str());
  write_configuration(configuration());
  start_launcher({}, pod_environment(api_port()));
  ASSERT_TRUE(wait_for_starts(id(1), 1));
  EXPECT_TRUE(wait_for_log("there is no token in"));
}

TEST_F(LauncherInPod, DoesNotWaitForATokenInAPipe) {
  API_SERVER_OR_SKIP("ok");
  unlink(dir().file("account/token").c_str());
  ASSERT_EQ(mkfifo(dir().file("account/token").c_str(), 0600), 0);
  write_configuration(configuration());
  start_launcher({}, pod_environment(api_port()));
  ASSERT_TRUE(wait_for_starts(id(1), 1));
  EXPECT_TRUE(wait_for_log("there is no token in"));
  EXPECT_EQ(stop_agent(), 0);
}

}  // namespace
}  // namespace fdbpack::test
