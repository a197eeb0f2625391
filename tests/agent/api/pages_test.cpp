// SPDX-License-Identifier: Apache-2.0
//
// What the agent shows.
#include "fdbpack/metrics/metrics_text.hpp"
#include "tests/agent/api/api_fixture.hpp"

#include <filesystem>
#include <fstream>

namespace fdbpack::test {
namespace {

TEST_F(ApiTest, StatusHoldsEverythingAndKeepsItsTagUntilSomethingHappens) {
  write_conf({{"1", ""}, {"2", ""}});
  start_api();
  ASSERT_TRUE(wait_running("child.1"));
  ASSERT_TRUE(wait_running("child.2"));
  for (const char* part : {"agent", "conf", "degraded", "http", "conditions", "storage",
                           "process_groups", "processes", "draining"}) {
    EXPECT_TRUE(get_json("/v1/status").contains(part)) << part;
  }
  // Files that follow a start are written once more; then nothing moves.
  Answered first;
  ASSERT_TRUE(wait([&] {
    const auto before = ask_tcp(get("/v1/status"));
    first = ask_tcp(get("/v1/status"));
    return before.head.find("ETag") != std::string::npos && before.body == first.body;
  }));
  const auto at = first.head.find("ETag: ") + 6;
  const std::string tag = first.head.substr(at, first.head.find("\r\n", at) - at);
  Client client(port());
  const auto known = client.ask(get("/v1/status", "If-None-Match: " + tag + "\r\n"));
  EXPECT_EQ(known.status, 304);
  EXPECT_EQ(known.body, "");
  const auto head = client.ask("HEAD /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n", false);
  EXPECT_EQ(head.status, 200);
  EXPECT_TRUE(head.has("Content-Length: " + std::to_string(first.body.size())));
  // Pipelined requests are answered in their order.
  ASSERT_TRUE(client.send(get("/v1/status") + get("/livez") + get("/v1/nothing")));
  EXPECT_EQ(client.receive().body, first.body);
  EXPECT_EQ(client.receive().body, "ok\n");
  EXPECT_EQ(client.receive().status, 404);

  kill(last_pid("1"), SIGKILL);
  ASSERT_TRUE(wait_for_starts("1", 2));
  ASSERT_TRUE(wait_running("child.1"));
  EXPECT_EQ(client.ask(get("/v1/status", "If-None-Match: " + tag + "\r\n")).status, 200);
}

TEST_F(ApiTest, AUnixSocketThatSomebodyRemovesIsMadeAgain) {
  write_conf({{"1", ""}});
  start_api();
  ASSERT_TRUE(wait_running("child.1"));
  std::filesystem::remove(socket_path());
  ASSERT_TRUE(wait([&] { return Client(socket_path()).is_connected(); }));
  EXPECT_EQ(ask(get("/livez")).status, 200);
  // What stands in the way is said, not passed over.
  const auto is_said = [&] {
    return status().at("degraded").dump().find("is no socket") != std::string::npos;
  };
  std::filesystem::rename(dir().write("file", "no socket"), socket_path());
  ASSERT_TRUE(wait(is_said));
  std::filesystem::remove(socket_path());
  ASSERT_TRUE(wait([&] { return !is_said(); }));
  EXPECT_EQ(ask(get("/livez")).status, 200);
}

TEST_F(ApiTest, EveryPageHasItsPart) {
  write_conf({{"1",
               "public_address = 127.0.0.1:4501,127.0.0.1:4502:tls\nlisten_address = public\n"
               "locality_instance_id = storage-1\n"},
              {"2", "public_address = [::1]:4503:tls\nlisten_address = [::]:4503:tls\n"}});
  start_api();
  ASSERT_TRUE(wait_running("child.1"));
  const auto one = get_json("/v1/processes/child.1");
  EXPECT_EQ(one["id"], "child.1");
  EXPECT_EQ(one["process"]["pid"], last_pid("1"));
  EXPECT_EQ(ask(get("/v1/processes/child.3")).status, 404);
  EXPECT_EQ(ask(get("/v1/processes/%00")).status, 404);

  const auto groups = get_json("/v1/addresses")["process_groups"];
  const auto& first = groups["storage-1"]["processes"]["child.1"];
  EXPECT_EQ(groups["storage-1"]["addresses"], json({"127.0.0.1"}));
  EXPECT_EQ(first["public"][0]["tls"], false);
  EXPECT_EQ(first["public"][1]["address"], "127.0.0.1:4502:tls");
  EXPECT_EQ(first["public"][1]["tls"], true);
  EXPECT_EQ(first["listen"], first["public"]);
  EXPECT_EQ(groups["2"]["processes"]["child.2"]["listen"][0]["address"], "[::]:4503:tls");

  const auto conf = get_json("/v1/conf");
  EXPECT_EQ(conf["text"], read_file(conf_path()));
  EXPECT_EQ(conf["accepted"], true);
  EXPECT_EQ(get_json("/v1/conf/diff")["processes"], json::object());
}

TEST_F(ApiTest, SecretsAreNotShown) {
  write_conf({{"1", "tls_password = hunter2\n"}});
  start_api();
  ASSERT_TRUE(wait_running("child.1"));
  for (const char* page : {"/v1/status", "/v1/processes", "/v1/conf", "/v1/conf/diff"}) {
    EXPECT_THAT(ask(get(page)).body, Not(HasSubstr("hunter2"))) << page;
  }
  EXPECT_THAT(ask(get("/v1/processes/child.1")).body, HasSubstr("--tls_password=********"));
}

TEST_F(ApiTest, DifferencesAreShownUntilTheyAreGone) {
  const std::string keep = "kill_on_configuration_change = false\n";
  write_conf({{"1", keep + "colour = blue\nshape = round\n"}});
  start_api();
  ASSERT_TRUE(wait_running("child.1"));
  write_conf({{"1", keep + "colour = red\nshape = round\n"}});
  ASSERT_TRUE(wait_for_json(
      "/v1/conf/diff", [](const json& page) { return page["processes"].contains("child.1"); }));
  const auto diff = get_json("/v1/conf/diff")["processes"]["child.1"];
  EXPECT_EQ(diff["pending"], "command");
  EXPECT_EQ(diff["only_running"], json({"--colour=blue"}));
  EXPECT_EQ(diff["only_configured"], json({"--colour=red"}));
  ASSERT_TRUE(wait_for_json("/v1/conditions", [](const json& page) {
    return !page["conditions"].empty() && page["conditions"][0]["type"] == "incorrectCommandLine";
  }));
  EXPECT_EQ(ask(post("/v1/processes/child.1/restart", "")).status, 200);
  EXPECT_EQ(get_json("/v1/conf/diff")["processes"], json::object());
  EXPECT_TRUE(wait_for_json(
      "/v1/conditions", [](const json& page) { return page["conditions"][0]["active"] == false; }));
}

TEST_F(ApiTest, ServersOnOneDiskAreOneStorageUnit) {
  const std::string one = dir().file("data/1"), two = dir().file("data/2");
  std::filesystem::create_directories(one);
  std::filesystem::create_directories(two);
  std::ofstream(one + "/file") << std::string(3 * 1024 * 1024, 'x');
  write_conf({{"1", "datadir = " + one + "\n"}, {"2", "datadir = " + two + "\n"}});
  start_api();
  ASSERT_TRUE(wait_for_json(
      "/v1/storage", [](const json& page) { return page["storage"]["measured_at"].is_string(); }));
  const auto units = get_json("/v1/storage")["storage"]["units"];
  ASSERT_EQ(units.size(), 1U) << units.dump(1);
  EXPECT_GT(units[0]["total_mib"], units[0]["free_mib"]);
  EXPECT_EQ(units[0]["directories"].size(), 2U);
  EXPECT_EQ(units[0]["directories"][0]["processes"], json({"child.1"}));
  EXPECT_EQ(units[0]["directories"][0]["used_mib"], 3);
  EXPECT_EQ(units[0]["directories"][1]["used_mib"], 0);
}

// A data directory that is not there is a condition once its process has failed.
TEST_F(ApiTest, ConditionsOutliveTheAgent) {
  write_conf({{"1", "mode = exit\ncode = 3\ndatadir = " + dir().file("no/data") + "\n"}},
             "restart_delay = 1\ninitial_restart_delay = 0\n");
  start_api();
  const auto find = [](const json& page, const std::string& type) {
    for (const auto& one : page["conditions"]) {
      if (one["type"] == type) return one;
    }
    return json();
  };
  ASSERT_TRUE(wait_for_json("/v1/conditions", [&](const json& page) {
    return !find(page, "crashLooping").is_null() && !find(page, "missingPvc").is_null();
  }));
  const auto before = find(get_json("/v1/conditions"), "crashLooping");
  EXPECT_EQ(before["process"], "child.1");
  EXPECT_THAT(before["reason"].get<std::string>(), HasSubstr("3"));
  ASSERT_TRUE(wait([&] {
    return read_file(dir().file("state/host.json")).find("crashLooping") != std::string::npos;
  }));
  kill_agent();
  start_api();
  ASSERT_TRUE(wait_for_json("/v1/conditions", [&](const json& page) {
    return find(page, "crashLooping").value("active", false);
  }));
  const auto after = find(get_json("/v1/conditions"), "crashLooping");
  EXPECT_EQ(after["first_seen"], before["first_seen"]);
  EXPECT_EQ(after["times"], before["times"]) << "another agent is no other time";
}

TEST_F(ApiTest, MetricsAreWhatPromtoolLikes) {
  std::filesystem::create_directories(dir().file("data"));
  write_conf({{"1", "datadir = " + dir().file("data") + "\n"}, {"2", ""}});
  start_api();
  ASSERT_TRUE(wait_running("child.2"));
  ASSERT_TRUE(wait_for_json(
      "/v1/storage", [](const json& page) { return page["storage"]["measured_at"].is_string(); }));
  const auto answer = ask_tcp(get("/metrics"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_TRUE(answer.has("Content-Type: text/plain; version=0.0.4; charset=utf-8"));
  EXPECT_THAT(metrics::check(answer.body), IsEmpty());
  EXPECT_THAT(answer.body, HasSubstr("fdbpack_agent_process_up{process=\"child.1\"} 1\n"));
  EXPECT_THAT(answer.body, HasSubstr("fdbpack_agent_process_starts_total{process=\"child.2\"} 1"));
  EXPECT_THAT(answer.body, HasSubstr("fdbpack_agent_storage_free_bytes{unit="));
  EXPECT_THAT(answer.body, Not(HasSubstr("fdbkubernetesmonitor")));
  const auto both = ask_tcp(get("/metrics?names=fdb-kubernetes-monitor"));
  EXPECT_THAT(metrics::check(both.body, true), IsEmpty());
  EXPECT_THAT(both.body, HasSubstr("fdbkubernetesmonitor_restart_count{process=\"child.1\"} 1"));
  EXPECT_THAT(both.body, HasSubstr("fdbkubernetesmonitor_configuration_change_count 1"));
  EXPECT_EQ(ask_tcp(get("/metrics?names=x")).status, 400);
}

TEST_F(ApiTest, ReadinessNamesWhoDoesNotRun) {
  write_conf({{"1", ""}});
  start_api();
  ASSERT_TRUE(wait_running("child.1"));
  EXPECT_EQ(ask_tcp(get("/readyz")).status, 200);
  EXPECT_EQ(ask_tcp(get("/livez")).body, "ok\n");
  write_conf({{"1", ""}, {"2", "command = /nonexistent/fdbserver\n"}});
  ASSERT_TRUE(wait([&] { return ask_tcp(get("/readyz")).status == 503; }));
  EXPECT_EQ(ask_tcp(get("/readyz")).body, "child.2 does not run\n");
  EXPECT_EQ(ask_tcp(get("/livez")).status, 200);
}

}  // namespace
}  // namespace fdbpack::test
