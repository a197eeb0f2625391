// SPDX-License-Identifier: Apache-2.0
//
// A simulated agent: the loop around the process machines that a real one has, over the simulated
// process table. It checks after every step what must hold throughout:
//
//   one copy      nothing lives for an ID when a process is spawned for it
//   pace          no restart on its own before the ladder's least delay, nor more than 6 of them
//                 (one after a delay, 5 at once) in a second; by a second, dumber count
//   truth         the status says what the process table says
//   timer         exactly the deadline that the state has, none where nothing is pending
//   strangers     signals go to the process that the machine means, never to another of that pid
//   restraint     a held process is not started; a section that did not change gets no signal
#pragma once

#include "fdbpack/supervise/conf_change.hpp"
#include "fdbpack/supervise/machine.hpp"
#include "tests/sim/supervise/conf_file.hpp"
#include "tests/sim/supervise/process_table.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>

namespace fdbpack::supervise::sim {

// The last things that happened, for the report of a failure.
class Trace {
 public:
  void add(Instant now, int id, const char* what, std::int64_t value = 0) {
    entries_[count_++ % entries_.size()] = {now, id, what, value};
  }
  [[nodiscard]] std::string show() const;

 private:
  struct Entry {
    Instant now;
    int id = 0;
    const char* what = "";
    std::int64_t value = 0;
  };
  std::array<Entry, 64> entries_;
  std::size_t count_ = 0;
};

// What the disk would hold between two agents.
struct StateFile {
  struct Record {
    std::uint64_t starts = 0;
    bool is_held = false;
  };
  std::array<Record, kIds> records;
  std::shared_ptr<const ParsedConf> last_good;
};

// What goes wrong with the next launches.
struct LaunchFaults {
  int failing = 0;      // so many cannot be launched
  int quick_exits = 0;  // so many end right after
  int quick_exit_code = 0;
  bool ignore_term = false;
  bool leave_group = false;
};

class SimAgent {
 public:
  SimAgent(ProcessTable& table, ConfCache& cache, StateFile& disk, LaunchFaults& faults,
           Random& random, Trace& trace)
      : table_(table),
        cache_(cache),
        disk_(disk),
        faults_(faults),
        random_(random),
        trace_(trace) {}

  // Adopts what lives, then reads the conf.
  void begin(const std::string& conf_text, Instant now);
  void read_conf(const std::string& text, Instant now, LoadCause cause = LoadCause::found);
  void command(int id, const Event& event, Instant now);
  void hang_up(const std::string& conf_text, Instant now);
  void shut_down(Instant kill_by, Instant now);

  [[nodiscard]] Instant next_event() const;
  // Everything that is due now: launches, deaths seen, timers.
  void advance(Instant now);

  // Empty, or what is wrong.
  [[nodiscard]] const std::string& failure() const { return failure_; }
  [[nodiscard]] const State* state(int id) const;
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  [[nodiscard]] std::size_t live() const;

 private:
  struct Slot {
    bool exists = false;
    State state;
    Policy policy;
    std::optional<conf::ProcessCommand> command;
    bool kill_on_change = true;
    std::optional<Instant> timer;
    std::optional<Instant> launch_at;
    Revision launch_revision;
    std::uint64_t serial = 0;  // of the process that it holds
    int pid = 0;
    bool is_own = false;  // our child: its exit status can be read
    Instant exit_seen_at = kNever;
    // The dumb count.
    double ladder_s = 0;
    Instant last_launch{};
    Instant not_before{};
    std::array<Instant, 6> launches;  // the last ones that nobody asked for
    std::size_t launch_count = 0;
    int signals = 0;
  };

  void fail(int id, const std::string& what);
  Slot& slot(int id) { return slots_[static_cast<std::size_t>(id)]; }
  void feed(int id, const Event& event, Instant now);
  void perform(int id, const Action& action, Instant now);
  void ask_launch(int id, const Launch& launch, Instant now);
  void send(int id, const SendSignal& signal, Instant now);
  void finish_launch(int id, Instant now);
  void see_exit(int id, Instant now);
  void adopt(SimProcess& process, Instant now);
  Slot& make_slot(int id, Instant now);
  void apply(const ParsedConf& parsed, Instant now);
  void apply(const Change& change, const conf::MonitorConf& conf, Instant now);
  void count_end(Slot& slot, const Event& event, Instant now);
  void check(int id);
  void check_process(int id, const View& view);

  ProcessTable& table_;
  ConfCache& cache_;
  StateFile& disk_;
  LaunchFaults& faults_;
  Random& random_;
  Trace& trace_;
  std::array<Slot, kIds> slots_;
  bool is_commanded_ = false;  // the launch that may come now was asked for by somebody
  std::uint64_t steps_ = 0;
  std::string failure_;
};

}  // namespace fdbpack::supervise::sim
