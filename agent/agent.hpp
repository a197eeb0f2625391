// SPDX-License-Identifier: Apache-2.0
//
// The agent: starts the loops, connects them and ends them.
//
//   start     state of the agent before -> conf -> processes still running -> adopted -> the rest
//             started -> ready. Who may live but cannot be verified is looked at again and again;
//             nothing is started in its place
//   SIGHUP    conf read again, restart ladders reset
//   SIGTERM   processes stopped, all at once, SIGKILL after their grace; or left running, when the
//   SIGINT    agent was told to keep them. A second one leaves them one second more. As init also
//   SIGQUIT   SIGPWR and SIGRTMIN+3
//   SIGUSR2   the program replaces itself; processes and their output go on
//   SIGCHLD   strangers are reaped
//
// The state and status files are written some milliseconds after something has changed, never in
// between.
#pragma once

#include "agent/conf_keeper.hpp"
#include "agent/host_watch.hpp"
#include "agent/state_dir.hpp"
#include "agent/status_page.hpp"
#include "agent/supervisor.hpp"
#include "agent/world.hpp"
#include "fdbpack/wire/handover.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fdbpack::agent {

struct AgentSettings {
  std::string version;
  std::string conf_path;
  std::string state_dir;
  ConfTranslator translate_conf;    // none: the file is a conf
  ConfReader read_conf;             // or it is of another format
  bool waits_for_conf = false;      // without a conf the agent starts all the same
  std::function<void()> on_change;  // something about conf or processes is new; called often
  SupervisorSettings supervisor;
  std::vector<StorageSetting> storage;
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
[[nodiscard]] Inheritance inheritance_of(std::vector<int> pidfds,
                                         const std::optional<wire::Handover>& handover);

class Agent {
 public:
  // `on_end` is called once, with the exit code.
  Agent(World& world, AgentSettings settings, std::function<void(int)> on_end);
  ~Agent();

  [[nodiscard]] Status start(Inheritance inheritance);
  void on_signal(int signal);
  void on_conf_change();
  void on_line(ports::OutputId id, ports::Stream stream, std::string_view line);
  // For features that are found not to work after the start; `what` replaces what it said before.
  void set_degraded(const std::string& what, std::vector<std::string> sentences);
  void set_listeners(std::vector<ListenerFact> listeners);

  // Who shows the agent to others (agent/api). Called on every change; `is_urgent` is false for a
  // line of output, which may come thousands of times a second.
  void set_observer(std::function<void(bool is_urgent)> observer);
  // Reads the conf now. True: it is in force. A conf that may have been cut is not, as ever: only a
  // person confirms it.
  bool reload_now();
  // What the next agent has to know is in the state directory after this. Why not; empty: it is.
  [[nodiscard]] std::string save_now();
  [[nodiscard]] const AgentFacts& facts();  // as of now
  [[nodiscard]] const ConfKeeper& conf() const { return conf_; }
  [[nodiscard]] HostWatch& host() { return host_; }
  [[nodiscard]] World& world() { return world_; }
  [[nodiscard]] bool is_started() const { return is_started_; }
  [[nodiscard]] std::uint64_t conf_changes() const { return conf_changes_; }
  [[nodiscard]] std::optional<WallTime> conf_changed_at() const { return conf_changed_at_; }

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
  bool reload(supervise::LoadCause cause);
  void note_conf_change();
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
  HostWatch host_;
  AgentFacts facts_;
  std::function<void(bool)> observer_;
  std::map<std::string, std::vector<std::string>> degraded_;  // by feature
  std::uint64_t conf_changes_ = 0;
  std::optional<WallTime> conf_changed_at_;
  std::string boot_id_;
  std::string state_error_;    // the last reason why the state could not be written
  wire::AgentState recorded_;  // by the agent before; forgotten when nobody is in doubt any more
  std::unique_ptr<ports::Alarm> search_alarm_;
  std::unique_ptr<ports::Alarm> write_alarm_;
  std::unique_ptr<ports::Alarm> stop_alarm_;
  std::unique_ptr<ports::Alarm> beat_alarm_;
  Duration write_cost_{};
  bool is_write_due_ = false;
  bool is_in_line_ = false;  // what changes now is a line of output
  bool is_started_ = false;
  bool is_stopping_ = false;
  bool has_ended_ = false;
};

}  // namespace fdbpack::agent
