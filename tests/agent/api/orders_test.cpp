// SPDX-License-Identifier: Apache-2.0
//
// What an administrator can do over HTTP, and who may.
#include "tests/agent/api/api_fixture.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

namespace fdbpack::test {
namespace {

TEST_F(ApiTest, RestartAnswersWhenTheNewProcessRuns) {
  write_conf({{"1", ""}, {"2", ""}});
  start_api();
  ASSERT_TRUE(wait_running("child.1"));
  const pid_t first = last_pid("1"), other = last_pid("2");
  const auto answer = ask(post("/v1/processes/child.1/restart", "{}"));
  ASSERT_EQ(answer.status, 200) << answer.body;
  const auto body = json::parse(answer.body);
  EXPECT_EQ(body["outcome"], "restarted");
  EXPECT_EQ(body["process"]["state"], "running");
  EXPECT_EQ(body["process"]["pid"], last_pid("1"));
  EXPECT_NE(last_pid("1"), first);
  EXPECT_EQ(starts("1"), 2U);
  EXPECT_EQ(last_pid("2"), other);
  EXPECT_TRUE(wait_for_log("audit peer=\"unix uid="));
  EXPECT_THAT(log(), HasSubstr("call=\"POST /v1/processes/child.1/restart\" status=200"));
  EXPECT_EQ(ask(post("/v1/processes/child.7/restart", "")).status, 404);
}

TEST_F(ApiTest, StopHoldsOverReloadsAndAgents) {
  write_conf({{"1", ""}, {"2", ""}});
  start_api();
  ASSERT_TRUE(wait_running("child.1"));
  const auto stopped = ask(post("/v1/processes/child.1/stop", ""));
  ASSERT_EQ(stopped.status, 200) << stopped.body;
  EXPECT_EQ(json::parse(stopped.body)["process"]["held"], true);
  EXPECT_EQ(living(), std::vector<std::string>{"2"});
  EXPECT_EQ(ask(get("/readyz")).status, 200) << "it is as somebody wants it";
  kill_agent();  // at once after the answer
  start_api();
  ASSERT_TRUE(wait_running("child.2"));
  reload();
  EXPECT_EQ(get_json("/v1/processes/child.1")["process"]["held"], true);
  EXPECT_EQ(ask(post("/v1/processes/child.1/stop", "")).status, 200) << "it is stopped";
  EXPECT_EQ(starts("1"), 1U);
  EXPECT_EQ(get_json("/v1/processes/child.1")["process"]["restarts"], 0);
  const auto started = ask(post("/v1/processes/child.1/start", ""));
  ASSERT_EQ(started.status, 200) << started.body;
  EXPECT_EQ(json::parse(started.body)["outcome"], "started");
  EXPECT_EQ(starts("1"), 2U);
  kill_agent();
  start_api();
  ASSERT_TRUE(wait_running("child.1"));
  EXPECT_EQ(starts("1"), 2U);
  EXPECT_EQ(doubles(), 0U);
}

TEST_F(ApiTest, AnOrderThatFailsSaysWhy) {
  write_conf({{"1", "command = /nonexistent/fdbserver\n"},
              {"2", "mode = say,exit\ntext = no_such_disk\nto = 2\ncode = 7\n"}});
  start_api();
  const auto missing = ask(post("/v1/processes/child.1/restart", ""));
  EXPECT_EQ(missing.status, 503);
  EXPECT_THAT(missing.body, HasSubstr("child.1 does not run"));
  EXPECT_THAT(missing.body, HasSubstr("No such file"));
  const auto dies = ask(post("/v1/processes/child.2/start", ""));
  EXPECT_EQ(dies.status, 503);
  EXPECT_THAT(dies.body, HasSubstr("no_such_disk"));
}

TEST_F(ApiTest, AnOrderThatTakesLongIsUnderWay) {
  write_conf({{"1", "mode = stubborn\n"}});
  start_api({"--stop-grace", "2"});
  ASSERT_TRUE(wait_running("child.1"));
  const auto answer = ask(post("/v1/processes/child.1/stop?wait=0", ""));
  EXPECT_EQ(answer.status, 202) << answer.body;
  EXPECT_EQ(json::parse(answer.body)["process"]["state"], "stopping");
  EXPECT_EQ(ask(get("/livez")).status, 200);
  EXPECT_EQ(ask(post("/v1/processes/child.1/stop", "")).status, 200) << "SIGKILL has come";
  EXPECT_EQ(ask(post("/v1/processes/child.1/stop?wait=soon", "")).status, 400);
}

// Orders go on when the one who gave them has gone; a contrary order ends the wait for the first.
TEST_F(ApiTest, OrdersOutliveTheirClients) {
  write_conf({{"1", "mode = graceful\nterm_ms = 300\n"}});
  start_api();
  ASSERT_TRUE(wait_running("child.1"));
  {
    Client client(socket_path());
    ASSERT_TRUE(client.send(post("/v1/processes/child.1/restart", "")));
    ASSERT_TRUE(wait_for_json("/v1/processes/child.1", [](const json& page) {
      return page["process"]["state"] == "stopping";
    }));
  }
  EXPECT_TRUE(wait_for_starts("1", 2));
  Client first(socket_path());
  ASSERT_TRUE(first.send(post("/v1/processes/child.1/restart", "")));
  ASSERT_TRUE(wait_for_json("/v1/processes/child.1", [](const json& page) {
    return page["process"]["state"] == "stopping";
  }));
  EXPECT_EQ(ask(post("/v1/processes/child.1/stop", "")).status, 200);
  EXPECT_EQ(first.receive().status, 409);
}

TEST_F(ApiTest, StopHoldsOverTheAbsenceOfItsSection) {
  write_conf({{"1", ""}, {"2", ""}});
  start_api();
  ASSERT_TRUE(wait_running("child.1"));
  ASSERT_EQ(ask(post("/v1/processes/child.1/restart", "")).status, 200);
  ASSERT_EQ(ask(post("/v1/processes/child.1/stop", "")).status, 200);
  const auto is_there = [](const json& page) { return page["processes"].contains("child.1"); };
  write_conf({{"2", ""}});
  ASSERT_EQ(ask(post("/v1/reload", "")).status, 200);
  ASSERT_TRUE(wait_for_json("/v1/processes", [&](const json& page) { return !is_there(page); }));
  ASSERT_TRUE(wait([&] {
    return read_file(dir().file("state/state.json")).find("child.1") != std::string::npos;
  }));
  kill_agent();
  start_api();
  write_conf({{"1", ""}, {"2", ""}});
  ASSERT_EQ(ask(post("/v1/reload", "")).status, 200);
  ASSERT_TRUE(wait_for_json("/v1/processes", is_there));
  const auto process = get_json("/v1/processes/child.1")["process"];
  EXPECT_EQ(process["held"], true);
  EXPECT_EQ(process["restarts"], 1) << "as before";
  EXPECT_EQ(starts("1"), 2U);
  EXPECT_EQ(ask(post("/v1/processes/child.1/start", "")).status, 200);
  EXPECT_EQ(starts("1"), 3U);
}

TEST_F(ApiTest, ARestartUnderWayOutlivesTheAgent) {
  write_conf({{"1", "mode = stubborn\n"}});
  start_api({"--stop-grace", "2"});
  ASSERT_TRUE(wait_running("child.1"));
  const pid_t first = last_pid("1");
  EXPECT_EQ(ask(post("/v1/processes/child.1/restart?wait=0", "")).status, 202);
  ASSERT_TRUE(wait([&] {
    return read_file(dir().file("state/state.json")).find("restart_due") != std::string::npos;
  }));
  kill_agent();
  start_api({"--stop-grace", "2"});
  ASSERT_TRUE(wait_for_starts("1", 2)) << "SIGKILL comes from the new agent";
  EXPECT_NE(last_pid("1"), first);
  ASSERT_TRUE(wait_running("child.1"));
  EXPECT_EQ(doubles(), 0U);
}

TEST_F(ApiTest, ReloadTellsWhetherTheConfIsInForce) {
  write_conf({{"1", ""}});
  start_api();
  ASSERT_TRUE(wait_running("child.1"));
  EXPECT_EQ(ask(post("/v1/reload", "")).status, 200);
  replace_file(conf_path(), "[child.1\n");
  const auto refused = ask(post("/v1/reload", ""));
  EXPECT_EQ(refused.status, 409);
  EXPECT_THAT(refused.body, HasSubstr("last good one stays in force"));
  EXPECT_TRUE(wait_for_json("/v1/conditions", [](const json& page) {
    return !page["conditions"].empty() && page["conditions"][0]["type"] == "incorrectConfigMap";
  }));
}

TEST_F(ApiTest, DrainingIsNotedAndTouchesNoProcess) {
  write_conf({{"1", ""}});
  start_api();
  ASSERT_TRUE(wait_running("child.1"));
  EXPECT_EQ(ask(post("/v1/drain", R"({"reason": "new disks"})")).status, 200);
  EXPECT_EQ(ask(get("/readyz")).status, 503);
  kill_agent();
  start_api();
  ASSERT_TRUE(wait_running("child.1"));
  EXPECT_EQ(get_json("/v1/status")["draining"]["reason"], "new disks");
  EXPECT_EQ(ask(post("/v1/drain", R"({"draining": false})")).status, 200);
  EXPECT_EQ(ask(get("/readyz")).status, 200);
  EXPECT_EQ(starts("1"), 1U);
}

// Fault 43.
TEST_F(ApiTest, BodiesThatAreNoneAreRefused) {
  write_conf({{"1", ""}});
  start_api();
  std::string deep;
  for (int i = 0; i < 33; ++i)
    deep += "[";
  const std::string bodies[] = {"{",
                                "[]",
                                "null",
                                "{\"draining\": 1}",
                                "{\"draining\": true, \"draining\": false}",
                                "{\"unknown\": 1}",
                                "{\"reason\": \"\xff\xfe\"}",
                                "{\"reason\": " + deep,
                                "{} {}",
                                "{\"draining\": 1e999999}",
                                "{\"reason\": \"\\ud800\"}",
                                std::string("{\"reason\":\"\0\"}", 14)};
  for (const auto& body : bodies) {
    const auto answer = ask(post("/v1/drain", body));
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_TRUE(answer.has("Content-Type: application/problem+json"));
  }
  const std::string plain =
      "POST /v1/drain HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
      "Content-Type: text/plain\r\n\r\n{}";
  EXPECT_EQ(ask(plain).status, 415);
  EXPECT_EQ(ask(post("/v1/drain", std::string(64 * 1024 + 1, ' '))).status, 413);
  EXPECT_EQ(get_json("/v1/status")["draining"], nullptr);
}

TEST_F(ApiTest, AStopThatCannotBeRecordedIsNotCalledDone) {
  write_conf({{"1", ""}});
  start_api();
  ASSERT_TRUE(wait_running("child.1"));
  // A directory in its place: the state cannot be renamed over it.
  std::filesystem::remove(dir().file("state/state.json"));
  std::filesystem::create_directories(dir().file("state/state.json/x"));
  const auto answer = ask(post("/v1/processes/child.1/stop", ""));
  EXPECT_EQ(answer.status, 500);
  EXPECT_THAT(answer.body, HasSubstr("could not be recorded"));
}

TEST_F(ApiTest, ReloadDoesNotConfirmAConfThatMayHaveBeenCut) {
  write_conf({{"1", ""}, {"2", ""}});
  start_api();
  ASSERT_TRUE(wait_running("child.2"));
  const std::string all = read_file(conf_path());
  replace_file(conf_path(), all.substr(0, all.find("[child.2]")));
  EXPECT_EQ(ask(post("/v1/reload", "")).status, 409);
  EXPECT_EQ(living().size(), 2u);
}

TEST_F(ApiTest, SecretsOfTheConfAreNotShown) {
  write_conf({{"1", "envvars = FDB_TLS_PASSWORD=hunter3\n"}}, "tls_password = hunter5\r");
  start_api();
  const auto page = ask(get("/v1/conf"));
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, Not(HasSubstr("hunter")));
}

TEST_F(ApiTest, LoopbackMayReadAndNothingElse) {
  write_conf({{"1", ""}});
  const std::string tokens = dir().file("tokens");
  replace_file(tokens, "# for the pager\noperate-0123456789abcdef\n");
  start_api({"--token-file", tokens});
  ASSERT_TRUE(wait_running("child.1"));
  EXPECT_EQ(ask_tcp(get("/v1/status")).status, 200);
  EXPECT_EQ(ask_tcp(post("/v1/processes/child.1/restart", "")).status, 403);
  EXPECT_TRUE(wait_for_log("status=403 outcome=\"refused\""));
  const std::string right = "Authorization: Bearer operate-0123456789abcdef\r\n";
  EXPECT_EQ(ask_tcp(post("/v1/processes/child.1/restart", "", right)).status, 200);
  EXPECT_THAT(log(), HasSubstr("by=\"bearer token\""));
  EXPECT_THAT(log(), Not(HasSubstr("operate-0123456789abcdef")));
  EXPECT_EQ(ask_tcp(post("/v1/reload", "", right + "Origin: http://evil.example\r\n")).status, 403);
  const std::string wrong = "Authorization: Bearer operate-0123456789abcdeF\r\n";
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(ask_tcp(get("/v1/status", wrong)).status, 401);
  }
  EXPECT_EQ(ask_tcp(get("/v1/status", right)).status, 200)
      << "on this host one who guesses does not lock out the others";
  EXPECT_EQ(ask_tcp(get("/v1/status")).status, 200) << "who shows no token is not concerned";
}

TEST_F(ApiTest, NamesThatOthersMadeUpForThisHostAreNotAnswered) {
  write_conf({{"1", ""}});
  start_api({"--host-name", "db-7"});
  const auto as = [](const std::string& host) {
    return "GET /v1/status HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
  };
  EXPECT_EQ(ask_tcp(as("evil.example:4490")).status, 403);
  EXPECT_EQ(ask_tcp(as("localhost:4490")).status, 200);
  EXPECT_EQ(ask_tcp(as("db-7")).status, 200);
  EXPECT_EQ(ask(as("evil.example")).status, 200) << "no browser comes over a unix socket";
}

// Fault 47: what a user may do over the socket is decided by who he is, and in which groups.
TEST_F(ApiTest, UnixPeersAreKnownByUserAndGroups) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become somebody else";
  write_conf({{"1", ""}});
  start_api({"--operator-gid", "31337"});
  ASSERT_TRUE(wait_running("child.1"));
  ASSERT_EQ(chmod(dir().file("state").c_str(), 0755), 0);
  struct stat status {};
  ASSERT_EQ(stat(socket_path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0666U);
  ASSERT_EQ(chmod(socket_path().c_str(), 0666), 0);
  const auto as = [&](const std::string& groups, const std::string& method) {
    const std::string out = dir().file("out");
    const int code = run_to_end({"/bin/sh", "-c",
                                 "exec setpriv --reuid 65534 --regid 65534 " + groups +
                                     " curl -sS -o /dev/null -w '%{http_code}' -X " + method +
                                     " --unix-socket " + socket_path() +
                                     " http://localhost/v1/processes/child.1" +
                                     (method == "POST" ? "/restart" : "") + " > " + out});
    EXPECT_EQ(code, 0);
    return read_file(out);
  };
  EXPECT_EQ(as("--clear-groups", "GET"), "200");
  EXPECT_EQ(as("--clear-groups", "POST"), "403");
  EXPECT_EQ(as("--groups 100,31337", "POST"), "200");
}

TEST_F(ApiTest, APortThatIsTakenHoldsUpNothing) {
  const int taken = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(taken, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(taken, 1), 0);
  socklen_t size = sizeof address;
  ASSERT_EQ(getsockname(taken, reinterpret_cast<sockaddr*>(&address), &size), 0);
  write_conf({{"1", ""}});
  AgentOptions options;
  options.arguments = {"--listen", "127.0.0.1:" + std::to_string(ntohs(address.sin_port))};
  start_agent(options);
  ASSERT_TRUE(wait_for_starts("1", 1));
  ASSERT_TRUE(
      wait([&] { return status()["degraded"].dump().find("no HTTP on") != std::string::npos; }));
  EXPECT_EQ(ask(get("/livez")).status, 200) << "the other place is open";
  close(taken);
  EXPECT_TRUE(wait_for_api()) << "it is tried again";
  EXPECT_EQ(ask_tcp(get("/livez")).status, 200);
  EXPECT_TRUE(
      wait([&] { return status()["degraded"].dump().find("no HTTP on") == std::string::npos; }));
}

// Fault 47: a socket that a dead agent left is replaced; something else at its path is left alone.
TEST_F(ApiTest, TheSocketOfADeadAgentIsReplacedAndAFileIsNot) {
  write_conf({{"1", ""}});
  start_api();
  kill_agent();
  EXPECT_TRUE(std::filesystem::is_socket(socket_path()));
  start_api();
  EXPECT_EQ(ask(get("/livez")).status, 200);
  EXPECT_EQ(stop_agent(), 0);
  EXPECT_FALSE(std::filesystem::exists(socket_path()));
  replace_file(socket_path(), "mine");
  start_api();
  EXPECT_THAT(status()["degraded"].dump(), HasSubstr("is no socket"));
  EXPECT_EQ(read_file(socket_path()), "mine");
}

TEST_F(ApiTest, TheProgramIsReplacedWithItsHttp) {
  write_conf({{"1", ""}});
  start_api();
  ASSERT_TRUE(wait_running("child.1"));
  EXPECT_EQ(ask(post("/v1/processes/child.1/stop", "")).status, 200);
  const std::size_t from = log_size();
  signal_agent(SIGUSR2);
  ASSERT_TRUE(wait_for_log("http.listening place=unix:", from));
  EXPECT_EQ(get_json("/v1/processes/child.1")["process"]["held"], true);
}

}  // namespace
}  // namespace fdbpack::test
