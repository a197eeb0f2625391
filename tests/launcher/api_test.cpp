// SPDX-License-Identifier: Apache-2.0
//
// What the launcher has of the agent: its API, and the change of its program in place.
#include "tests/launcher/fixture.hpp"
#include "tests/support/http_client.hpp"

#include <signal.h>

#include <filesystem>

namespace fdbpack::test {
namespace {

using nlohmann::json;

class LauncherApi : public LauncherTest {};

TEST_F(LauncherApi, ServesTheAgentsApiOnItsUnixSocket) {
  write_configuration(configuration());
  start_launcher({"--process-count=2"});
  ASSERT_TRUE(wait([&] { return running(1) != 0 && running(2) != 0; }));
  const std::string socket = dir().file("state/agent.sock");
  const auto ask = [&](const std::string& request) { return Client(socket).ask(request); };
  const auto status = json::parse(ask(test::get("/v1/status")).body, nullptr, false);
  ASSERT_TRUE(status.is_object());
  EXPECT_EQ(status["processes"]["fdbserver.1"]["pid"], running(1));
  EXPECT_EQ(status["http"][0]["place"], "unix:" + socket);
  EXPECT_EQ(status["http"].size(), 1u) << "no port that nobody asked for";
  EXPECT_EQ(ask(test::get("/readyz")).status, 200);

  EXPECT_EQ(ask(test::post("/v1/processes/fdbserver.1/stop", "")).status, 200);
  const std::vector<std::string> second{id(2)}, both{id(1), id(2)};
  EXPECT_EQ(living(), second);
  EXPECT_EQ(ask(test::post("/v1/processes/fdbserver.1/start", "")).status, 200);
  // A process that was started is not yet one that has said so.
  EXPECT_TRUE(wait([&] { return living() == both; }));
  EXPECT_EQ(get("/v1/status").status, 404) << "the port of the metrics is open to others";

  write_configuration(configuration({"--knob_password=hidden"}));
  ASSERT_TRUE(
      wait([&] { return ask(test::get("/v1/conf")).body.find("withheld") != std::string::npos; }));
  EXPECT_EQ(ask(test::get("/v1/conf")).body.find("hidden"), std::string::npos);
  EXPECT_EQ(stop_agent(), 0);
  EXPECT_FALSE(std::filesystem::exists(socket));
}

TEST_F(LauncherApi, ServesTheAgentsApiWhereItIsTold) {
  write_configuration(configuration());
  start_launcher({"--listen=127.0.0.1:0", "--socket=" + dir().file("other.sock")});
  ASSERT_TRUE(wait_for_log("http.listening place=http://127.0.0.1:"));
  ASSERT_TRUE(wait_for_log("http.listening place=unix:" + dir().file("other.sock")));
  EXPECT_EQ(Client(dir().file("other.sock")).ask(test::get("/livez")).status, 200);
  kill_agent();
  start_launcher({"--http-limit=nonsense=1"});
  EXPECT_EQ(wait_for_agent(), 2);
}

TEST_F(LauncherApi, ReplacesItsProgramAndItsProcessesGoOn) {
  write_configuration(configuration());
  start_launcher({"--process-count=2"});
  ASSERT_TRUE(wait([&] { return running(1) != 0 && running(2) != 0; }));
  const auto before = std::pair(running(1), running(2));
  const auto from = log_size();
  signal_agent(SIGUSR2);
  ASSERT_TRUE(wait_for_log("replacing the program", from));
  ASSERT_TRUE(wait_for_log("in place of fdb-kubernetes-monitor", from));
  ASSERT_TRUE(wait_for_log("http.listening", from));
  ASSERT_TRUE(wait([&] { return std::pair(running(1), running(2)) == before; }));
  EXPECT_EQ(starts(id(1)), 1u);
  EXPECT_EQ(starts(id(2)), 1u);
  // The new one hears of their ends and stops them.
  kill(before.first, SIGKILL);
  EXPECT_TRUE(wait_for_starts(id(1), 2));
  EXPECT_EQ(stop_agent(), 0);
  EXPECT_TRUE(living().empty());
}

}  // namespace
}  // namespace fdbpack::test
