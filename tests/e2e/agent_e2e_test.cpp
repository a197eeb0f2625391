// SPDX-License-Identifier: Apache-2.0
//
// The agent with FoundationDB itself: fdbserver and fdbcli from FDB_BIN_DIR or PATH. Without them
// the stand-in takes fdbserver's place and what needs a database is left out; each test says which.
#include "tests/support/agent_fixture.hpp"
#include "tests/support/places.hpp"
#include "tests/support/run_program.hpp"

#include <fmt/format.h>

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <map>

namespace fdbpack::test {
namespace {

constexpr Seconds kDatabaseLimit{60};

// The program of this name in FDB_BIN_DIR or PATH; empty when there is none.
std::string find_program(const std::string& name) {
  std::string folders;
  if (const char* given = std::getenv("FDB_BIN_DIR")) folders = given;
  if (const char* path = std::getenv("PATH")) folders += std::string(":") + path;
  for (std::size_t at = 0; at <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', at), folders.size());
    const std::string program = folders.substr(at, end - at) + "/" + name;
    if (end > at && ::access(program.c_str(), X_OK) == 0) return program;
    at = end + 1;
  }
  return "";
}

class AgentE2e : public AgentTest {
 protected:
  void SetUp() override {
    server_ = find_program("fdbserver");
    cli_ = find_program("fdbcli");
    if (server_.empty() || cli_.empty()) {
      server_ = test::program_file("fdbserver-standin");
      cli_.clear();
    }
    std::cout << "e2e with " << server_ << (is_real() ? " and " + cli_ : "; no database") << "\n";
    for (const char* id : {"1", "2", "3"})
      ports_[id] = free_port();
    write_file(cluster_file(), fmt::format("e2e:e2e@127.0.0.1:{}\n", ports_["1"]));
    write_servers();
    start_agent();
    wait_until_joined();
  }

  [[nodiscard]] bool is_real() const { return !cli_.empty(); }
  [[nodiscard]] std::string cluster_file() const { return dir().file("fdb.cluster"); }

  void write_servers(const std::string& more = "") {
    std::string text = fmt::format(
        "[general]\nrestart_delay = 60\ncluster_file = {}\n[fdbserver]\ncommand = {}\n"
        "datadir = {}/data-$ID\nlogdir = {}\nknob_disable_posix_kernel_aio = 1\n{}",
        cluster_file(), server_, dir().path().string(), dir().path().string(), more);
    for (const auto& [id, port] : ports_) {
      text += fmt::format("[fdbserver.{}]\npublic_address = 127.0.0.1:{}\n", id, port);
    }
    replace_file(conf_path(), text);
  }

  void wait_until_joined() {
    for (const auto& [id, port] : ports_) {
      ASSERT_TRUE(
          wait([&, name = id] { return server(name).value("joined", false); }, kDatabaseLimit))
          << id << " " << status() << log();
    }
  }

  [[nodiscard]] nlohmann::json server(const std::string& id) const {
    return status_of("fdbserver." + id);
  }
  [[nodiscard]] std::map<std::string, pid_t> pids() const {
    std::map<std::string, pid_t> result;
    for (const auto& [id, port] : ports_)
      result[id] = server(id).value("pid", 0);
    return result;
  }

  // What fdbcli prints.
  [[nodiscard]] std::string fdbcli(const std::string& command) const {
    const auto result =
        support::run_program({cli_, "-C", cluster_file(), "--timeout", "20", "--exec", command});
    return result.out + result.error;
  }

  void expect_written_value() const {
    if (!is_real()) return;
    EXPECT_TRUE(
        wait([&] { return fdbcli("get kept").find("`yes'") != std::string::npos; }, kDatabaseLimit))
        << fdbcli("status");
  }

  void make_database() const {
    if (!is_real()) return;
    const std::string made = fdbcli("configure new single memory");
    EXPECT_NE(made.find("Database created"), std::string::npos) << made;
    EXPECT_TRUE(wait(
        [&] { return fdbcli("writemode on; set kept yes").find("Committed") != std::string::npos; },
        kDatabaseLimit));
  }

 private:
  std::string server_;
  std::string cli_;
  std::map<std::string, int> ports_;
};

TEST_F(AgentE2e, DatabaseLivesThroughTheDeathOfTheAgent) {
  make_database();
  const auto before = pids();
  kill_agent();
  expect_written_value();
  start_agent();
  ASSERT_TRUE(wait([&] { return pids() == before; }, kDatabaseLimit)) << status();
  for (const auto& [id, pid] : before)
    EXPECT_TRUE(server(id).value("adopted", false)) << id;
  expect_written_value();
  // An upgrade in place keeps them, too.
  signal_agent(SIGUSR2);
  ASSERT_TRUE(wait([&] { return pids() == before; }, kDatabaseLimit)) << status();
  expect_written_value();
}

TEST_F(AgentE2e, ServerThatIsKilledIsBackAtOnceAndKeepsItsData) {
  make_database();
  const pid_t victim = server("1").value("pid", 0);
  ASSERT_GT(victim, 0);
  EXPECT_TRUE(Pidfd(victim).send(SIGKILL));
  ASSERT_TRUE(
      wait([&] { return server("1").value("pid", 0) > 0 && server("1")["pid"] != victim; }));
  ASSERT_TRUE(wait([&] { return server("1").value("joined", false); }, kDatabaseLimit)) << log();
  EXPECT_EQ(last_exit("fdbserver.1").value("signal", 0), SIGKILL);
  expect_written_value();
}

TEST_F(AgentE2e, KillThroughTheDatabaseIsACleanExitAndRestartsAtOnce) {
  if (!is_real()) GTEST_SKIP() << "fdbcli kill needs a database; set FDB_BIN_DIR";
  make_database();
  const auto before = pids();
  // fdbcli learns the addresses with the first kill and uses them with the second.
  (void)fdbcli("kill; kill all; sleep 1");
  for (const auto& [id, pid] : before) {
    ASSERT_TRUE(wait(
        [&, name = id, old = pid] {
          const auto now = server(name);
          return now.value("pid", 0) > 0 && now["pid"] != old && now.value("joined", false);
        },
        kDatabaseLimit))
        << id << " " << status();
    EXPECT_EQ(last_exit("fdbserver." + id).value("code", -1), 0) << id;
  }
  expect_written_value();
}

TEST_F(AgentE2e, TruncatedConfLeavesTheDatabaseAlone) {
  make_database();
  const auto before = pids();
  write_file(conf_path(), "");
  ASSERT_TRUE(wait([&] { return status()["conf"].value("accepted", true) == false; }));
  EXPECT_EQ(pids(), before);
  write_servers();
  ASSERT_TRUE(wait([&] { return status()["conf"].value("accepted", false); }));
  EXPECT_EQ(pids(), before);
  expect_written_value();
}

TEST_F(AgentE2e, StopEndsEveryServer) {
  const auto before = pids();
  EXPECT_EQ(stop_agent(kDatabaseLimit), 0);
  for (const auto& [id, pid] : before)
    EXPECT_FALSE(is_alive(pid)) << id;
}

}  // namespace
}  // namespace fdbpack::test
