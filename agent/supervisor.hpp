// SPDX-License-Identifier: Apache-2.0
//
// Feeds what happens to supervise::step and performs what it answers. There is no policy here.
//
//   conf, signals, exits, timers, memory  -->  dispatch  -->  step  -->  perform
//                                                 ^                        |
//                                                 +-- launched, group gone-+
//
// Runs on the agent's thread. On the way from a death to the new process nothing is written,
// looked up or waited for; the log, the state and the status follow afterwards.
#pragma once

#include "agent/conf_keeper.hpp"
#include "agent/last_lines.hpp"
#include "agent/wall_times.hpp"
#include "agent/world.hpp"
#include "fdbpack/base/random.hpp"
#include "fdbpack/base/text.hpp"
#include "fdbpack/supervise/conf_change.hpp"
#include "fdbpack/supervise/machine.hpp"
#include "fdbpack/wire/agent_state.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace fdbpack::agent {

// What kept a process from starting.
using Blocked = ports::Held;

// The last line in which a process said that its disk failed it.
struct DiskFailure {
  Instant at;
  std::string line;
};

// One section, for as long as it is configured or something of it lives.
struct Supervised {
  std::string section;
  supervise::Policy policy;
  supervise::State state;
  bool kill_on_change = true;
  std::optional<conf::ProcessCommand> command;  // none: adopted, and no conf has named it yet
  std::vector<std::string> launch_argv;         // command->argv with $PID replaced; empty: as is
  std::optional<ports::Identity> identity;
  // "user", "group" of the conf when they were unknown as it was read: looked up at each start.
  std::optional<std::pair<std::string, std::string>> unknown_account;

  std::unique_ptr<ports::Child> child;
  std::optional<ports::OutputId> output;
  LastLines lines;
  std::optional<DiskFailure> disk_failure;
  std::optional<Instant> timer;
  std::optional<ports::ProcessStamp> stamp;  // of the live process, read when it is first needed
  WallTime started_wall;
  mutable WallTimes wall_times;           // as pages said them
  std::vector<std::string> running_argv;  // of the live process; empty: it was adopted
  std::uint64_t memory_limit_bytes = 0;   // of the live process
  std::unique_ptr<ports::MemoryGauge> gauge;
  std::uint64_t memory_bytes = 0;  // when last looked at
  Instant memory_at;
  Instant memory_next;
  std::string cgroup;                 // of the live process; empty: none
  std::uint64_t oom_kills = 0;        // in it, before the process was started
  bool is_join_unknown = false;       // adopted, and no record tells
  bool is_restart_due = false;        // adopted, and to be restarted once the conf is known
  int stopped_pid = 0;                // this process was stopped and has not gone on since
  int replaced_pid = 0;               // the program of this process was replaced
  std::optional<Blocked> blocked_by;  // since its last death; none once it is started
  std::string said_holder;            // what the log says of it already
  bool is_stored = false;             // its pidfd is with the service manager
};

struct SupervisorSettings {
  std::string agent_id;
  std::vector<std::string> environment;  // what children inherit, "NAME=value"
  Duration stop_grace = std::chrono::seconds(10);
  bool dies_with_agent = false;
  std::string working_directory = "/";       // of children
  std::vector<ports::ResourceLimit> limits;  // of children
  std::uint64_t random_seed = 0;
  // Between two looks at what nobody tells: that a process was stopped, or its program replaced.
  Duration look_every = std::chrono::seconds(10);
};

class Supervisor {
 public:
  Supervisor(World& world, SupervisorSettings settings, std::function<void()> on_change);
  ~Supervisor();

  // Before the first conf. `streams`: its output, when it came over a re-exec.
  void adopt(const ports::Found& found, const wire::ProcessRecord* record,
             std::optional<ports::OutputFds> streams);
  // A process that may be `found.section`'s but cannot be verified: nothing is started meanwhile.
  // Its record is kept, or the next agent would start it beside the one that may live.
  void hold_back(const ports::Found& found, const wire::ProcessRecord* record);
  // Nobody is held back any more: they are about to be looked at again.
  void release_all() { held_back_.clear(); }
  // Not everything could be looked at: no section is begun with. Empty: it could.
  void set_shortage(std::string why) { shortage_ = std::move(why); }
  [[nodiscard]] bool is_held_back(const std::string& section) const;
  // Somebody may live who is not supervised.
  [[nodiscard]] bool has_doubts() const { return !held_back_.empty() || !shortage_.empty(); }
  // `starts`: as the earlier agent counted.
  void hold(const std::string& section, std::uint64_t starts);
  // The same for one that does not live; before the conf is applied.
  void recall(const std::string& section, std::uint64_t starts);
  // An administrator's order; false: there is no such section.
  bool order(const std::string& section, const supervise::Event& event);

  void apply(const LoadedConf& loaded);
  void reset();
  void shut_down(Instant kill_by);

  void on_line(ports::OutputId id, ports::Stream stream, std::string_view line);
  void reap_strangers();
  // SIGCHLD: some may have been stopped, which nobody else would notice. Of processes that were
  // taken over there is no such signal: they are looked at from time to time.
  void note_stops();

  [[nodiscard]] std::size_t live() const;
  // Of those that live, and at least that of processes without one of their own.
  [[nodiscard]] Duration longest_grace() const;
  [[nodiscard]] std::uint64_t strangers() const { return strangers_; }
  [[nodiscard]] wire::AgentState snapshot();
  void store_pidfds();
  // What processes that are gone left running outside their process group.
  void sweep();

  using Processes = std::map<std::string, std::unique_ptr<Supervised>, text::IgnoreCaseLess>;
  [[nodiscard]] const Processes& processes() const { return processes_; }
  // One sentence for each section that is not started because its process may live.
  [[nodiscard]] std::vector<std::string> held_back() const;

 private:
  struct HeldBack {
    int pid = 0;
    std::unique_ptr<ports::Child> child;  // none: there was no descriptor for it
    std::optional<wire::ProcessRecord> record;
  };
  struct Pending {
    Supervised* who;
    supervise::Event event;
  };

  Supervised& entry(const std::string& section);
  void dispatch_to_all(const supervise::Event& event);
  void apply_change(const supervise::Change& change, const LoadedConf& loaded);
  void dispatch(Supervised& who, supervise::Event event);
  void take_step(Supervised& who, const supervise::Event& event);
  void perform(Supervised& who, const supervise::Action& action);
  void launch(Supervised& who, const supervise::Revision& revision);
  [[nodiscard]] Status find_account(Supervised& who);
  [[nodiscard]] ports::LaunchPlan plan_for(const Supervised& who,
                                           const supervise::Revision& revision) const;
  void send(Supervised& who, const supervise::SendSignal& action);
  void set_timer(Supervised& who, std::optional<Instant> at);
  void note(const Supervised& who, const supervise::Note& note);
  [[nodiscard]] supervise::Exit explain(const Supervised& who, const supervise::Exit& exit) const;
  void on_exit(Supervised& who, const supervise::Exit& exit, bool group_lives);
  void on_alarm();
  void open_output(Supervised& who);
  void look_for_listener(Supervised& who);
  void joined(const std::string& section, int pid);

  void ask_for_holder(const std::string& section, const supervise::Exit& exit);
  void look_for_holder();
  void note_holder(const std::string& section, const Blocked& blocked);

  void look_at_processes();
  void set_replaced(Supervised& who, int pid, bool is_replaced);
  void set_stopped(Supervised& who, int pid, bool is_stopped);

  void watch_memory(Supervised& who);
  void sample_memory();

  World& world_;
  SupervisorSettings settings_;
  std::function<void()> on_change_;
  Random random_;
  Processes processes_;
  std::map<std::string, HeldBack, text::IgnoreCaseLess> held_back_;
  // Sections that an administrator stopped and that left the conf since, with their starts: when
  // they come back they are still stopped.
  std::map<std::string, std::uint64_t, text::IgnoreCaseLess> held_outside_;
  std::string shortage_;
  const LoadedConf* loaded_ = nullptr;  // the conf in force, for sections held back
  std::map<ports::OutputId, Supervised*> by_output_;
  std::set<std::pair<Instant, Supervised*>> timers_;
  std::unique_ptr<ports::Alarm> alarm_;
  std::unique_ptr<ports::Alarm> memory_alarm_;
  std::optional<Instant> memory_alarm_at_;
  std::unique_ptr<ports::Alarm> holder_alarm_;
  std::unique_ptr<ports::Alarm> look_alarm_;
  bool is_look_alarm_set_ = false;
  std::deque<std::string> blocked_;  // sections whose process failed; the first is looked at
  std::unique_ptr<ports::HolderSearch> holder_search_;
  std::deque<Pending> pending_;
  std::vector<std::string> forgotten_;
  bool is_dispatching_ = false;
  std::uint64_t strangers_ = 0;
};

}  // namespace fdbpack::agent
