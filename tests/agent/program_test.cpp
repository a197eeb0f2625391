// SPDX-License-Identifier: Apache-2.0
//
// The program itself: its command line, its lock, going to the background, replacing itself.
#include "tests/adapters/posix/support.hpp"
#include "tests/support/places.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <thread>

namespace fdbpack::agent {
namespace {

using testing::HasSubstr;

class Program : public testing::Test {
 protected:
  void SetUp() override {
    const auto command = dir_.write("c", "#!/bin/sh\nexec sleep 600\n");
    ::chmod(command.c_str(), 0755);
    (void)dir_.write("f.conf",
                     "[general]\nrestart-delay = 1\ncommand = " + command + "\n[x.1]\n[x.2]\n");
  }
  void TearDown() override {
    if (agent_ > 0) ::kill(agent_, SIGKILL);
    if (agent_ > 0) ::waitpid(agent_, nullptr, 0);
    for (const int pid : pids())
      ::kill(pid, SIGKILL);
  }
  int spawn(std::vector<std::string> arguments, const std::string& log) {
    arguments.insert(arguments.begin(), test::program_file("fdbpack-agent"));
    std::vector<char*> argv;
    for (auto& argument : arguments)
      argv.push_back(argument.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 2, dir_.path(log).c_str(),
                                       O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    pid_t pid = 0;
    EXPECT_EQ(::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ), 0);
    ::posix_spawn_file_actions_destroy(&actions);
    return pid;
  }
  std::vector<std::string> monitor(std::vector<std::string> more = {}) {
    std::vector<std::string> all = {"monitor",           "--conffile",
                                    dir_.path("f.conf"), "--lockfile=" + dir_.path("l.pid"),
                                    "--listen",          "off"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static int exit_code(int pid) {
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  // Ten seconds at most.
  [[nodiscard]] static bool wait(const std::function<bool()>& is_true) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!is_true()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::yield();
    }
    return true;
  }
  nlohmann::json status() {
    return nlohmann::json::parse(test::read_file(dir_.path("l.pid.state/status.json")), nullptr,
                                 false);
  }
  std::vector<int> pids() {
    std::vector<int> result;
    const auto page = status();
    if (!page.is_object()) return result;
    for (const auto& process : page["processes"]) {
      if (process.contains("pid")) result.push_back(process["pid"]);
    }
    return result;
  }
  void start(std::vector<std::string> more = {}) {
    agent_ = spawn(monitor(std::move(more)), "log");
    ASSERT_TRUE(wait([&] { return pids().size() == 2; })) << test::read_file(dir_.path("log"));
  }

  test::TempDir dir_;
  int agent_ = 0;
};

TEST_F(Program, WrongUsageEndsWithOne) {
  EXPECT_EQ(exit_code(spawn({"monitor", "--bogus"}, "log")), 1);
  EXPECT_EQ(exit_code(spawn({"monitor", "--loggroup", "a\"b"}, "log")), 1);
  EXPECT_EQ(exit_code(spawn({"monitor", "--stop-grace", "nan"}, "log")), 1);
  EXPECT_EQ(exit_code(spawn({"monitor", "--help"}, "log")), 0);
  EXPECT_EQ(
      exit_code(spawn(
          {"monitor", "--conffile", dir_.path("none"), "--lockfile", dir_.path("l2.pid")}, "log")),
      1);
  EXPECT_THAT(test::read_file(dir_.path("log")), HasSubstr("No configuration file at"));
}

// Somebody else's templates count, are read again when told to, and cannot hurt what runs.
TEST_F(Program, RunsByTheTemplatesOfAFolder) {
  std::filesystem::create_directory(dir_.path("templates"));
  const auto give_template = [&](const std::string& text) {
    (void)dir_.write("templates/fdbmonitor-conf-storage.inja", text);
  };
  const std::string section = "[fdbserver.1]\nrestart_delay = 1\ncommand = " + dir_.path("c") +
                              "\nplace = {{ processes.0.datadir }}\n";
  give_template(section);
  (void)dir_.write("f.json", R"({"processGroups": [{"id": "s-1", "class": "storage",
      "address": "127.0.0.1", "clusterFile": "/none/fdb.cluster", "dataDirectory": "/none/d"}]})");
  agent_ = spawn({"run", "--config", dir_.path("f.json"), "--templates", dir_.path("templates"),
                  "--lockfile", dir_.path("l.pid"), "--listen", "off"},
                 "log");
  ASSERT_TRUE(wait([&] { return pids().size() == 1; })) << test::read_file(dir_.path("log"));
  const int pid = pids().front();
  EXPECT_THAT(test::read_file(dir_.path("l.pid.state/last-good.conf")),
              HasSubstr("[fdbserver.s-1]"));
  EXPECT_THAT(test::read_file(dir_.path("l.pid.state/last-good.conf")),
              HasSubstr("place = /none/d"));

  give_template("{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}");
  ::kill(agent_, SIGHUP);
  ASSERT_TRUE(wait([&] {
    return test::read_file(dir_.path("log")).find("fdbmonitor-conf-storage.inja") !=
           std::string::npos;
  })) << test::read_file(dir_.path("log"));
  EXPECT_EQ(pids(), std::vector{pid});
  EXPECT_EQ(::kill(pid, 0), 0);

  give_template(section + "shape = round\n");
  ::kill(agent_, SIGHUP);
  EXPECT_TRUE(wait([&] {
    return test::read_file(dir_.path("l.pid.state/last-good.conf")).find("shape = round") !=
           std::string::npos;
  }));
}

TEST_F(Program, ASecondOneIsRefusedAtOnceAndNamesTheFirst) {
  start();
  EXPECT_EQ(exit_code(spawn(monitor(), "second")), 69);
  EXPECT_THAT(test::read_file(dir_.path("second")),
              HasSubstr("is held by process " + std::to_string(agent_)));
}

// It would take the first one's processes for its own and start them a second time when they die.
TEST_F(Program, ASecondOneWithAnotherLockFileDoesNotShareTheState) {
  start();
  const std::vector<std::string> other = {
      "monitor",           "--conffile", dir_.path("f.conf"),     "--lockfile",
      dir_.path("l2.pid"), "--statedir", dir_.path("l.pid.state")};
  EXPECT_EQ(exit_code(spawn(other, "second")), 69);
  EXPECT_THAT(test::read_file(dir_.path("second")),
              HasSubstr("is held by process " + std::to_string(agent_)));
}

TEST_F(Program, EndsCleanlyWithItsProcessesAndItsLockFile) {
  start();
  const auto before = pids();
  ::kill(agent_, SIGTERM);
  EXPECT_EQ(exit_code(std::exchange(agent_, 0)), 0);
  for (const int pid : before)
    EXPECT_NE(::kill(pid, 0), 0);
  EXPECT_FALSE(std::filesystem::exists(dir_.path("l.pid")));
}

TEST_F(Program, KeepsItsProcessesWhenToldTo) {
  start({"--keep-children"});
  const auto before = pids();
  ::kill(agent_, SIGTERM);
  EXPECT_EQ(exit_code(std::exchange(agent_, 0)), 0);
  for (const int pid : before)
    EXPECT_EQ(::kill(pid, 0), 0);
  start();
  EXPECT_EQ(pids(), before);
}

TEST_F(Program, ReplacesItselfWithoutTouchingAnybody) {
  start();
  const auto before = pids();
  for (int i = 0; i < 3; ++i) {
    std::filesystem::remove(dir_.path("l.pid.state/status.json"));
    ::kill(agent_, SIGUSR2);
    ASSERT_TRUE(wait([&] { return pids().size() == 2; })) << test::read_file(dir_.path("log"));
    EXPECT_EQ(pids(), before);
    EXPECT_EQ(status()["agent"]["pid"], agent_);
  }
  // It is still their parent.
  ::kill(before[0], SIGKILL);
  ASSERT_TRUE(wait([&] {
    const auto page = status();
    return page.is_object() && page["processes"]["x.1"].contains("last_exit");
  }));
  EXPECT_EQ(status()["processes"]["x.1"]["last_exit"]["signal"], SIGKILL);
}

TEST_F(Program, InTheBackgroundItsParentEndsWhenItIsReady) {
  EXPECT_EQ(exit_code(spawn(monitor({"--daemonize"}), "log")), 0);
  const int daemon = std::stoi(test::read_file(dir_.path("l.pid")));
  EXPECT_EQ(exit_code(spawn(monitor({"--daemonize"}), "second")), 69);
  ASSERT_TRUE(wait([&] { return pids().size() == 2; }));
  ::kill(daemon, SIGTERM);
  EXPECT_TRUE(wait([&] { return !std::filesystem::exists(dir_.path("l.pid")); }));
}

TEST_F(Program, DiesWithItsProcessesWhenAskedTo) {
  start({"--die-with-agent"});
  const auto before = pids();
  ::kill(agent_, SIGKILL);
  EXPECT_EQ(exit_code(std::exchange(agent_, 0)), -SIGKILL);
  EXPECT_TRUE(wait([&] {
    const auto state = test::read_file("/proc/" + std::to_string(before[0]) + "/stat");
    return state.empty() || state.find(") Z") != std::string::npos;
  }));
}

}  // namespace
}  // namespace fdbpack::agent
