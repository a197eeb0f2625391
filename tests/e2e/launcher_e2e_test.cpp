// SPDX-License-Identifier: Apache-2.0
//
// The launcher and FoundationDB itself: a database of one process from a unified configuration, as
// the operator writes it. fdbserver and fdbcli come from FDB_BIN_DIR.
#include "tests/launcher/fixture.hpp"
#include "tests/support/run_program.hpp"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace fdbpack::test {
namespace {

using nlohmann::json;
constexpr Seconds kDatabaseLimit{60};

class LauncherE2e : public LauncherTest {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("FDB_BIN_DIR");
    if (folder == nullptr || ::access((std::string(folder) + "/fdbserver").c_str(), X_OK) != 0) {
      GTEST_SKIP() << "FDB_BIN_DIR does not name a folder with fdbserver";
    }
    bin_ = folder;
    port_ = free_port();
    std::filesystem::create_directories(dir().file("logs"));
    write_file(dir().file("fdb.cluster"), "e2e:e2e@127.0.0.1:" + std::to_string(port_) + "\n");
  }

  [[nodiscard]] std::string database_configuration() const {
    const json port{{"type", "ProcessNumber"}, {"offset", port_ - 1}};
    return json{
        {"version", kContainerVersion},
        {"arguments",
         {{{"value", "--cluster_file=" + dir().file("fdb.cluster")}},
          {{"type", "Concatenate"},
           {"values",
            {{{"value", "--public_address="}},
             {{"type", "Environment"}, {"source", "FDB_PUBLIC_IP"}},
             {{"value", ":"}},
             port}}},
          {{"value", "--class=storage"}},
          {{"type", "Concatenate"},
           {"values",
            {{{"value", "--datadir=" + dir().file("data-")}}, {{"type", "ProcessNumber"}}}}},
          {{"value", "--logdir=" + dir().file("logs")}},
          {{"value", "--knob_disable_posix_kernel_aio=1"}}}}}
        .dump();
  }

  [[nodiscard]] std::string fdbcli(const std::string& command) const {
    return support::run_program({bin_ + "/fdbcli", "-C", dir().file("fdb.cluster"), "--timeout",
                                 "30", "--exec", command})
        .out;
  }

  std::string bin_;
  int port_ = 0;
};

TEST_F(LauncherE2e, RunsADatabaseThroughItsOwnDeath) {
  write_configuration(database_configuration());
  AgentOptions options;
  options.arguments = {"--fdbserver-path=" + bin_ + "/fdbserver"};
  options.environment = {"FDB_PUBLIC_IP=127.0.0.1"};
  start_agent(options);
  ASSERT_TRUE(wait([&] { return running(1) > 0; }));
  ASSERT_TRUE(wait(
      [&] {
        return fdbcli("configure new single memory").find("Database created") != std::string::npos;
      },
      kDatabaseLimit));
  ASSERT_NE(fdbcli("writemode on; set key before").find("Committed"), std::string::npos);
  const pid_t server = running(1);
  ASSERT_GT(server, 0);

  kill_agent();
  start_agent(options);
  ASSERT_TRUE(wait([&] { return running(1) == server; }, kDatabaseLimit))
      << "adopted, not restarted";
  EXPECT_NE(fdbcli("get key").find("before"), std::string::npos);

  // As the operator restarts it: it ends with 0 and is started at once.
  (void)fdbcli("kill; kill all; sleep 1");
  ASSERT_TRUE(wait([&] { return running(1) > 0 && running(1) != server; }, kDatabaseLimit));
  ASSERT_TRUE(
      wait([&] { return fdbcli("get key").find("before") != std::string::npos; }, kDatabaseLimit));
  EXPECT_EQ(stop_agent(), 0);
}

}  // namespace
}  // namespace fdbpack::test
