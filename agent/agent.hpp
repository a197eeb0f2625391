// SPDX-License-Identifier: Apache-2.0
//
// The agent: starts the loops, connects them and ends them.
//
//   start     state of the agent before -> conf -> processes still running -> adopted -> the rest
//             started -> ready. Who may live but cannot be verified is looked at again and again;
//             nothing is started in its place
//   SIGHUP    conf read again, restart ladders reset
//   SIGTERM   processes stopped, all at once, SIGKILL after their grace; or left running, when the
//   SIGINT    agent was told to keep them. A second one leaves them one second more
//   SIGUSR2   the program replaces itself; processes and their output go on
//   SIGCHLD   strangers are reaped
//
// The state and status files are written some milliseconds after something has changed, never in
// between.
#pragma once

#include "agent/conf_keeper.hpp"
#include "agent/state_dir.hpp"
#include "agent/status_page.hpp"
#include "agent/supervisor.hpp"
#include "agent/world.hpp"
#include "fdbpack/wire/handover.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace fdbpack::agent {

struct AgentSettings {
  std::string version;
  std::string conf_path;
  std::string state_dir;
  ConfTranslator translate_conf;  // none: the file is a conf
  SupervisorSettings supervisor;
  bool keeps_children = false;
  int pid = 0;
  std::uint32_t uid = 0;
};

// What came from the service manager or from this program's former self.
struct Inheritance {
  std::vector<int> pidfds;
  std::map<std::string, ports::OutputFds> streams;  // by section
  std::string state;                                // instead of the state file
};

class Agent {
 public:
  // `on_end` is called once, with the exit code.
  Agent(World& world, AgentSettings settings, std::function<void(int)> on_end);
  ~Agent();

  [[nodiscard]] Status start(Inheritance inheritance);
  void on_signal(int signal);
  void on_conf_change();
  void on_line(ports::OutputId id, ports::Stream stream, std::string_view line) {
    supervisor_.on_line(id, stream, line);
  }
  // For features that are found not to work after the start.
  void set_degraded(std::vector<std::string> sentences);

  [[nodiscard]] Supervisor& supervisor() { return supervisor_; }
  // What the next program needs, when this one replaces itself. Nothing is done by it.
  [[nodiscard]] wire::AgentState state();
  void describe_descriptors(wire::Handover& handover) const;
  [[nodiscard]] bool is_ending() const { return is_stopping_; }

 private:
  [[nodiscard]] wire::AgentState read_state(const std::string& inherited);
  [[nodiscard]] ports::Findings search(std::vector<int> handed);
  void take_over(const ports::Findings& findings, const Inheritance& inheritance);
  void search_again();
  void reload();
  void stop(int signal);
  void on_change();
  void write_files();
  void write_state();
  void check_ended();
  void on_stop_deadline();
  void beat();
  [[nodiscard]] std::string summary() const;

  World& world_;
  AgentSettings settings_;
  StateDir state_dir_;
  std::function<void(int)> on_end_;
  ConfKeeper conf_;
  Supervisor supervisor_;
  AgentFacts facts_;
  std::vector<std::string> degraded_;
  std::string boot_id_;
  std::string state_error_;    // the last reason why the state could not be written
  wire::AgentState recorded_;  // by the agent before; forgotten when nobody is in doubt any more
  std::unique_ptr<ports::Alarm> search_alarm_;
  std::unique_ptr<ports::Alarm> write_alarm_;
  std::unique_ptr<ports::Alarm> stop_alarm_;
  std::unique_ptr<ports::Alarm> beat_alarm_;
  Duration write_cost_{};
  bool is_write_due_ = false;
  bool is_started_ = false;
  bool is_stopping_ = false;
  bool has_ended_ = false;
};

}  // namespace fdbpack::agent
