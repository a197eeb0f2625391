// SPDX-License-Identifier: Apache-2.0
//
// HTTP of `run`, whose settings are in its configuration, as a black box.
#include "tests/agent/api/api_fixture.hpp"

#include <filesystem>

namespace fdbpack::test {
namespace {

class RunTest : public ApiTest {
 protected:
  RunTest() {
    const std::string server = dir().write("bin/fdbserver", "#!/bin/sh\nexec sleep 600\n");
    std::filesystem::permissions(server, std::filesystem::perms::owner_all);
  }

  void write_config(const json& http) {
    const json group = {{"id", "storage-1"},
                        {"class", "storage"},
                        {"address", "127.0.0.1"},
                        {"clusterFile", dir().file("fdb.cluster")},
                        {"dataDirectory", dir().file("data")},
                        {"logDirectory", dir().file("log")}};
    const json config = {{"binaryDirectory", dir().file("bin")},
                         {"processGroups", json::array({group})},
                         {"http", http}};
    dir().write("agent.json", config.dump());
  }
  void break_config() { dir().write("agent.json", R"({"binaryDirectory": "/usr/sbin", )"); }

  // The places that the status names, without the number of a port that was free.
  [[nodiscard]] std::vector<std::string> places() const {
    std::vector<std::string> result;
    for (const auto& place : status().value("http", json::array())) {
      const std::string name = place.value("place", "");
      result.push_back(name.starts_with("unix:") ? "unix" : name.substr(0, name.rfind(':')));
    }
    return result;
  }

  [[nodiscard]] std::vector<std::string> command(const AgentOptions& options) const override {
    std::vector<std::string> argv = {agent_program(), "run",
                                     "--config",      dir().file("agent.json"),
                                     "--lockfile",    dir().file("lock"),
                                     "--statedir",    dir().file("state")};
    argv.insert(argv.end(), options.arguments.begin(), options.arguments.end());
    return argv;
  }
};

TEST_F(RunTest, WithAConfigurationThatIsRefusedHttpIsAsAtTheLastStart) {
  write_config({{"listen", json::array()}});  // on the unix socket only
  start_agent();
  ASSERT_TRUE(wait_running("fdbserver.storage-1"));
  ASSERT_TRUE(wait([&] { return places() == std::vector<std::string>{"unix"}; }));
  kill_agent();

  break_config();
  start_agent();
  ASSERT_TRUE(wait_for_log("HTTP and storage are as at the last start"));
  ASSERT_TRUE(wait_running("fdbserver.storage-1"));
  ASSERT_TRUE(wait([&] { return !places().empty(); }));
  EXPECT_EQ(places(), std::vector<std::string>{"unix"}) << "nothing was opened that was closed";
  EXPECT_THAT(get_json("/v1/status")["degraded"].dump(), HasSubstr("as at the last start"));
  EXPECT_EQ(ask(get("/readyz")).status, 200);
  kill_agent();

  // Mended, it counts again.
  write_config({{"listen", {"127.0.0.1:0"}}});
  start_agent();
  ASSERT_TRUE(wait([&] { return places().size() == 2; }));
  EXPECT_THAT(get_json("/v1/status")["degraded"].dump(), Not(HasSubstr("last start")));
}

TEST_F(RunTest, TheCommandLineHoldsWithAConfigurationThatIsRefused) {
  write_config({{"listen", json::array()}});
  start_agent();
  ASSERT_TRUE(wait_running("fdbserver.storage-1"));
  kill_agent();
  break_config();
  AgentOptions options;
  options.arguments = {"--listen", "127.0.0.1:0"};
  start_agent(options);
  ASSERT_TRUE(wait_for_api());
  EXPECT_EQ(ask_tcp(get("/livez")).status, 200);
}

TEST_F(RunTest, AConfigurationThatWasNeverGoodStartsNothing) {
  break_config();
  AgentOptions options;
  options.arguments = {"--listen", "off"};
  start_agent(options);
  EXPECT_EQ(wait_for_agent(), 1);
  EXPECT_THAT(log(), HasSubstr("Unable to load configuration file"));
  EXPECT_THAT(log(), HasSubstr("that can be used"));
  EXPECT_THAT(living(), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(dir().file("state/started.json")));
}

}  // namespace
}  // namespace fdbpack::test
