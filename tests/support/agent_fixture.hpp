// SPDX-License-Identifier: Apache-2.0
//
// fdbpack-agent as a black box with real children: started by its command line, seen through its
// log, its status, /proc and what the children stamp.
//
//   folder/   foundationdb.conf   what write_conf() wrote
//             agent.log           stderr of all agents of this test, one after the other
//             stamps              one line per start of a child (tests/children/test_child.cpp)
//             state/  lock        the agent's own
//
// Everything a test starts carries AGENT_TEST_MARK with a value of its own; the fixture ends all
// of it, wherever it was handed to.
#pragma once

#include "tests/support/files.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/temp_dir.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace fdbpack::test {

inline constexpr Seconds kLimit{20};

struct Stamp {
  std::uint64_t ns = 0;
  pid_t pid = 0;
  std::string id;
  bool is_double = false;  // an older copy was alive
};

// One section [child.ID] and the lines in it.
struct Section {
  std::string id;
  std::string lines;
};

struct AgentOptions {
  std::string program;                 // empty: the one that was built
  std::vector<std::string> prefix;     // a command in front of the agent's: unshare, prlimit, ...
  std::vector<std::string> arguments;  // behind the agent's own
  std::vector<std::string> environment;
  int error = -1;  // instead of agent.log
  bool has_state_dir = true;
};

class AgentTest : public ::testing::Test {
 protected:
  AgentTest();
  ~AgentTest() override;

  // [general] with `general`, [child] with command and stamps, then the sections. Renamed over.
  [[nodiscard]] std::string conf(const std::vector<Section>& sections,
                                 const std::string& general = "restart_delay = 60\n") const;
  void write_conf(const std::vector<Section>& sections,
                  const std::string& general = "restart_delay = 60\n");
  [[nodiscard]] std::string conf_path() const { return dir_.file("foundationdb.conf"); }

  void start_agent(const AgentOptions& options = {});
  // SIGKILL, and the next one before the first has come to die.
  void kill_and_start_agent(const AgentOptions& options = {});
  // SIGTERM and the exit code, -1 when it does not end within the limit or by a signal.
  int stop_agent(Seconds limit = kLimit);
  void kill_agent();
  // The exit code of an agent that ends by itself; -signal when a signal ended it.
  int wait_for_agent(Seconds limit = kLimit);
  [[nodiscard]] pid_t agent_pid() const { return agent_pid_; }
  void signal_agent(int signal) const;
  // The exit code of a process that the test started; -1 when it does not end within the limit.
  static int wait_for_exit(pid_t pid, Seconds limit = kLimit);
  // SIGKILL comes this long after SIGTERM.
  [[nodiscard]] static AgentOptions with_grace(int seconds);
  [[nodiscard]] int log_fd() const { return log_fd_; }

  [[nodiscard]] std::string log() const { return read_file(dir_.file("agent.log")); }
  // Where log() ends now; waits from here on see only later lines.
  [[nodiscard]] std::size_t log_size() const { return log().size(); }
  [[nodiscard]] bool wait_for_log(const std::string& text, std::size_t from = 0,
                                  Seconds limit = kLimit) const;
  [[nodiscard]] std::size_t count_in_log(const std::string& text) const;

  [[nodiscard]] std::vector<Stamp> stamps() const;
  [[nodiscard]] std::size_t starts(const std::string& id) const;
  [[nodiscard]] std::size_t doubles() const;
  // pid of the last start; 0 when it never started.
  [[nodiscard]] pid_t last_pid(const std::string& id) const;
  [[nodiscard]] bool wait_for_starts(const std::string& id, std::size_t count,
                                     Seconds limit = kLimit) const;
  [[nodiscard]] bool wait(const std::function<bool()>& holds, Seconds limit = kLimit) const;
  // Children of this test that live now: their ids, sorted; an id twice is a double.
  [[nodiscard]] std::vector<std::string> living() const;

  // The status document of the agent that runs now; an empty object when there is none yet.
  [[nodiscard]] nlohmann::json status() const;
  // One process of it by section, and how that ended last; empty objects when there is nothing.
  [[nodiscard]] nlohmann::json status_of(const std::string& section) const;
  [[nodiscard]] nlohmann::json last_exit(const std::string& section) const;

  [[nodiscard]] std::string mark() const { return mark_; }
  [[nodiscard]] std::vector<std::string> marked_environment() const;
  [[nodiscard]] const support::TempDir& dir() const { return dir_; }
  [[nodiscard]] static std::string child_program();
  [[nodiscard]] static std::string agent_program();

  // Reload by SIGHUP and wait until the agent has read the conf.
  void reload();

 private:
  [[nodiscard]] std::vector<std::string> command(const AgentOptions& options) const;

  support::TempDir dir_;
  std::string mark_;
  pid_t agent_pid_ = 0;
  int log_fd_ = -1;
};

}  // namespace fdbpack::test
