// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/supervise/machine.hpp"

#include "fdbpack/base/check.hpp"
#include "fdbpack/base/overloaded.hpp"

#include <algorithm>
#include <utility>

namespace fdbpack::supervise {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kKillAgainFirst = seconds(5);
constexpr Duration kKillAgainMax = seconds(60);
constexpr Duration kClearAgainFirst = milliseconds(10);
constexpr Duration kClearAgainMax = seconds(1);
constexpr Duration kStuckAfter = seconds(5);

// first, 2 * first, 4 * first, ... up to `max`.
Duration doubled(Duration first, unsigned times, Duration max) {
  constexpr unsigned kDoublingsMax = 20;
  return std::min(max, first * (std::int64_t{1} << std::min(times, kDoublingsMax)));
}

std::string whole_seconds(Duration duration) {
  const auto count = std::chrono::duration_cast<seconds>(duration).count();
  return std::to_string(count) + (count == 1 ? " second" : " seconds");
}

// One step: takes a state, handles one event by changing it, and collects actions meanwhile.
class Stepper {
 public:
  Stepper(const State& state, const Policy& policy, Instant now, Random& random)
      : state_(state), policy_(policy), now_(now), random_(random) {
    actions_.reserve(4);  // few steps need more
  }

  void on(const Configured& event);
  void on(const Deconfigured& event);
  void on(const Start&);
  void on(const Stop&);
  void on(const Restart&);
  void on(const Launched& event);
  void on(const LaunchFailed& event);
  void on(const ProcessExited& event);
  void on(const GroupGone& event);
  void on(const Timer&);
  void on(const Adopted& event);
  void on(const MemoryExceeded& event);
  void on(const Joined& event);
  void on(const Reset&);
  void on(const Shutdown& event);

  Step finish(std::optional<Instant> deadline_before, bool timer_fired) {
    const std::optional<Instant> at = deadline(state_);
    if (at != deadline_before || (timer_fired && at)) act(SetTimer{at});
    return {std::move(state_), std::move(actions_)};
  }

 private:
  template <class A>
  void act(A action) {
    actions_.emplace_back(std::move(action));
  }
  void note(Severity severity, std::string text) { act(Note{severity, std::move(text)}); }
  void lifecycle(Severity severity, std::string text) {
    if (!policy_.is_quiet) note(severity, std::move(text));
  }

  template <class P>
  P* in() {
    return std::get_if<P>(&state_.phase);
  }

  bool wants_to_run() const {
    return state_.is_configured && !state_.is_held && !state_.shutdown_by;
  }

  // What lives although it should not, given what it was started with.
  std::optional<StopReason> due_stop(const Revision& revision) const;
  StopReason reason_now(const Process& process, StopReason before) const;
  bool refuses_command(std::string_view what);
  void settle();
  void launch();
  void begin_stop(Process process, StopReason reason, std::optional<MemoryLimit> memory);
  void begin_kill(Process process, StopReason reason, std::optional<MemoryLimit> memory);
  void kill_again(Killing& killing);
  void clear_again(Clearing& clearing);
  void record(const Exit& exit, int pid, Duration ran, bool was_asked);
  void after_end(const Exit& exit, int pid, bool is_at_once);
  void say_end(const Exit& exit, int pid, std::optional<Duration> delay);
  void forget();

  State state_;
  const Policy& policy_;
  Instant now_;
  Random& random_;
  std::vector<Action> actions_;
};

std::optional<StopReason> Stepper::due_stop(const Revision& revision) const {
  if (state_.shutdown_by) return StopReason::shutdown;
  if (state_.is_held) return StopReason::administrator;
  if (!state_.kill_on_change) return std::nullopt;
  if (!state_.is_configured) return StopReason::deconfigured;
  if (revision.command != state_.desired.command) return StopReason::configuration;
  return std::nullopt;
}

// Why it is being stopped, seen from the newest configuration.
StopReason Stepper::reason_now(const Process& process, StopReason before) const {
  if (const auto due = due_stop(process.revision)) return *due;
  return before == StopReason::deconfigured ? StopReason::configuration : before;
}

// An administrator cannot start what no configuration describes, nor anything during a shutdown.
bool Stepper::refuses_command(std::string_view what) {
  if (state_.shutdown_by) {
    note(Severity::warning,
         "Not " + std::string(what) + " " + policy_.section + ": the agent is shutting down");
    return true;
  }
  if (!state_.is_configured) {
    note(Severity::warning,
         "Not " + std::string(what) + " " + policy_.section + ": it is not in the configuration");
    return true;
  }
  return false;
}

// Brings the phase in line with what is wanted. Phases that wait for an answer or a death stay:
// they come here, or to after_end, when it arrives.
void Stepper::settle() {
  if (in<Down>() != nullptr) {
    if (wants_to_run()) launch();
  } else if (in<Waiting>() != nullptr) {
    if (!wants_to_run()) state_.phase = Down{now_};
  } else if (const auto* running = in<Running>()) {
    if (const auto reason = due_stop(running->process.revision)) {
      begin_stop(running->process, *reason, std::nullopt);
    }
  }
}

void Stepper::launch() {
  FDBPACK_CHECK(in<Down>() != nullptr || in<Waiting>() != nullptr);
  state_.phase = Starting{now_, state_.desired};
  state_.backoff = note_start(state_.backoff, now_);
  act(Launch{state_.desired});
}

void Stepper::begin_stop(Process process, StopReason reason, std::optional<MemoryLimit> memory) {
  act(SendSignal{kSignalTerminate, SignalTarget::group, process.pid});
  // A stopped process does not act on SIGTERM before it goes on.
  act(SendSignal{kSignalContinue, SignalTarget::group, process.pid});
  lifecycle(Severity::info, "Killing process " + std::to_string(process.pid));
  Instant kill_at = now_ + std::clamp(policy_.stop_grace, Duration::zero(), kRestartDelayMax);
  if (state_.shutdown_by) kill_at = std::min(kill_at, *state_.shutdown_by);
  if (kill_at <= now_) return begin_kill(process, reason, memory);
  state_.phase = Stopping{process, reason, now_, kill_at, memory};
}

void Stepper::begin_kill(Process process, StopReason reason, std::optional<MemoryLimit> memory) {
  act(SendSignal{kSignalKill, SignalTarget::group, process.pid});
  note(Severity::warning,
       "Process " + std::to_string(process.pid) + " did not stop in time, sending SIGKILL");
  state_.phase = Killing{process, reason, now_, now_ + kKillAgainFirst, 0, memory};
}

void Stepper::kill_again(Killing& killing) {
  act(SendSignal{kSignalKill, SignalTarget::group, killing.process.pid});
  note(Severity::warning_always, "Process " + std::to_string(killing.process.pid) +
                                     " is still there " + whole_seconds(now_ - killing.since) +
                                     " after SIGKILL");
  ++killing.repeats;
  killing.again_at = now_ + doubled(kKillAgainFirst, killing.repeats, kKillAgainMax);
}

void Stepper::clear_again(Clearing& clearing) {
  act(SendSignal{kSignalKill, SignalTarget::group, clearing.pid});
  if (!clearing.is_stuck && now_ - clearing.since >= kStuckAfter) {
    clearing.is_stuck = true;
    note(Severity::warning_always, "Process " + std::to_string(clearing.pid) +
                                       " is gone, but members of its group are " + "still there " +
                                       whole_seconds(now_ - clearing.since) + " after SIGKILL");
  }
  ++clearing.repeats;
  clearing.again_at = now_ + doubled(kClearAgainFirst, clearing.repeats, kClearAgainMax);
}

void Stepper::record(const Exit& exit, int pid, Duration ran, bool was_asked) {
  state_.last_death = Death{exit, pid, now_, ran, was_asked};
  if (was_asked || ran >= kQuickDeathBelow) {
    state_.quick_deaths = 0;
  } else {
    ++state_.quick_deaths;
  }
}

void Stepper::say_end(const Exit& exit, int pid, std::optional<Duration> delay) {
  LogLine line = death_line(exit, pid, delay, policy_.command, policy_.section);
  if (state_.last_death && state_.last_death->was_asked) line.severity = Severity::info;
  // Quiet is for the daily comings and goings, not for a command that cannot be started.
  if (pid != 0) return lifecycle(line.severity, std::move(line.text));
  note(line.severity, std::move(line.text));
}

void Stepper::forget() {
  state_.phase = Down{now_};
  act(Forgotten{});
}

// Nothing of the process lives any more.
void Stepper::after_end(const Exit& exit, int pid, bool is_at_once) {
  state_.phase = Down{now_};
  if (!wants_to_run()) {
    say_end(exit, pid, std::nullopt);
    if (!state_.is_configured) forget();
    return;
  }
  if (is_at_once) {
    state_.backoff = earn_credit(state_.backoff, now_);
    launch();
    return say_end(exit, pid, std::nullopt);
  }
  const RestartDelay next =
      next_restart(state_.backoff, classify(exit), policy_.restart, now_, random_);
  state_.backoff = next.backoff;
  if (next.delay > Duration::zero()) {
    state_.phase = Waiting{now_, now_ + next.delay, next.is_spaced};
  } else {
    launch();
  }
  say_end(exit, pid, next.delay);
}

void Stepper::on(const Configured& event) {
  const bool was_configured = state_.is_configured;
  const bool is_new_command = was_configured && event.revision.command != state_.desired.command;
  state_.is_configured = true;
  state_.kill_on_change = event.kill_on_change;
  state_.desired = event.revision;
  if (is_new_command || !state_.backoff.last_start) {
    state_.backoff = reset_ladder(state_.backoff, policy_.restart);
  } else {
    state_.backoff = clamp_ladder(state_.backoff, policy_.restart);
  }
  if (is_new_command) {
    note(Severity::info, "Found new configuration for " + policy_.section);
  } else if (was_configured) {
    note(Severity::info, "Updated configuration for " + policy_.section);
  } else if (in<Down>() != nullptr && wants_to_run()) {
    note(Severity::info, "Starting " + policy_.section);
  }
  const bool is_at_once = is_new_command && event.kill_on_change;
  if (in<Waiting>() != nullptr && is_at_once) return launch();
  if (auto* stopping = in<Stopping>()) {
    stopping->reason = reason_now(stopping->process, stopping->reason);
  } else if (auto* killing = in<Killing>()) {
    killing->reason = reason_now(killing->process, killing->reason);
  } else if (auto* clearing = in<Clearing>()) {
    clearing->is_at_once = clearing->is_at_once || is_at_once;
  }
  settle();
}

void Stepper::on(const Deconfigured& event) {
  if (state_.is_configured) note(Severity::info, "Deconfigured " + policy_.section);
  state_.is_configured = false;
  state_.kill_on_change = event.kill;
  if (in<Down>() != nullptr || in<Waiting>() != nullptr) return forget();
  settle();
}

void Stepper::on(const Start&) {
  if (refuses_command("starting")) return;
  state_.is_held = false;
  if (in<Waiting>() != nullptr) return launch();
  settle();
}

void Stepper::on(const Stop&) {
  state_.is_held = true;
  if (auto* stopping = in<Stopping>()) stopping->reason = StopReason::administrator;
  if (auto* killing = in<Killing>()) killing->reason = StopReason::administrator;
  settle();
}

void Stepper::on(const Restart&) {
  if (refuses_command("restarting")) return;
  state_.is_held = false;
  if (in<Waiting>() != nullptr) return launch();
  if (const auto* running = in<Running>()) {
    return begin_stop(running->process, StopReason::restart, std::nullopt);
  }
  // Whatever it was stopped for, it is started at once when it is gone.
  if (auto* stopping = in<Stopping>()) stopping->reason = StopReason::restart;
  if (auto* killing = in<Killing>()) killing->reason = StopReason::restart;
  if (auto* clearing = in<Clearing>()) clearing->is_at_once = true;
  settle();
}

void Stepper::on(const Launched& event) {
  const auto* starting = in<Starting>();
  FDBPACK_CHECK(starting != nullptr);
  const Process process{event.pid, now_, starting->revision, false, std::nullopt};
  ++state_.starts;
  state_.phase = Running{process};
  lifecycle(Severity::info, "Launching " + policy_.command + " (" + std::to_string(event.pid) +
                                ") for " + policy_.section);
  settle();
}

void Stepper::on(const LaunchFailed& event) {
  const auto* starting = in<Starting>();
  FDBPACK_CHECK(starting != nullptr);
  const bool has_new_command =
      state_.kill_on_change && starting->revision.command != state_.desired.command;
  record(event.exit, 0, Duration::zero(), false);
  after_end(event.exit, 0, has_new_command);
}

void Stepper::on(const ProcessExited& event) {
  Process process;
  std::optional<MemoryLimit> memory;
  bool was_asked = false;
  if (const auto* running = in<Running>()) {
    process = running->process;
  } else if (const auto* stopping = in<Stopping>()) {
    process = stopping->process;
    memory = stopping->memory;
    was_asked = stopping->reason != StopReason::memory;
  } else if (const auto* killing = in<Killing>()) {
    process = killing->process;
    memory = killing->memory;
    was_asked = killing->reason != StopReason::memory;
  }
  if (process.pid == 0 || process.pid != event.pid) {
    return note(Severity::debug, "Process " + std::to_string(event.pid) +
                                     " ended, which is not that of " + policy_.section);
  }
  Exit exit = event.exit;
  if (memory && !std::holds_alternative<OomKilled>(exit)) exit = *memory;
  record(exit, process.pid, now_ - process.since, was_asked);
  if (!event.group_lives) return after_end(exit, process.pid, was_asked);
  act(SendSignal{kSignalKill, SignalTarget::group, process.pid});
  note(Severity::warning, "Process " + std::to_string(process.pid) +
                              " left members of its group behind, sending them SIGKILL");
  state_.phase = Clearing{process.pid, now_, now_ + kClearAgainFirst, 0, false, was_asked, exit};
}

void Stepper::on(const GroupGone& event) {
  const auto* clearing = in<Clearing>();
  if (clearing == nullptr || clearing->pid != event.pid) return;
  const Clearing done = *clearing;
  after_end(done.exit, done.pid, done.is_at_once);
}

void Stepper::on(const Timer&) {
  const std::optional<Instant> at = deadline(state_);
  if (!at || now_ < *at) return;
  if (in<Waiting>() != nullptr) return launch();
  if (const auto* stopping = in<Stopping>()) {
    return begin_kill(stopping->process, stopping->reason, stopping->memory);
  }
  if (auto* killing = in<Killing>()) return kill_again(*killing);
  if (auto* clearing = in<Clearing>()) clear_again(*clearing);
}

void Stepper::on(const Adopted& event) {
  if (in<Down>() == nullptr && in<Waiting>() == nullptr) {
    return note(Severity::error, "Process " + std::to_string(event.pid) + " claims to be " +
                                     policy_.section + " too and is left alone");
  }
  const Instant since = std::min(event.since, now_);
  state_.phase = Running{Process{event.pid, since, event.revision, true, event.joined_at}};
  state_.backoff = note_start(state_.backoff, since);
  state_.starts = event.starts;
  note(Severity::info, "Adopted process " + std::to_string(event.pid) + " for " + policy_.section);
  settle();
}

void Stepper::on(const MemoryExceeded& event) {
  const auto* running = in<Running>();
  if (running == nullptr || running->process.pid != event.pid) return;
  note(Severity::warning, "Process " + std::to_string(event.pid) +
                              " being killed for exceeding resident memory limit, current " +
                              std::to_string(event.rss_bytes) + " , limit " +
                              std::to_string(event.limit_bytes));
  begin_stop(running->process, StopReason::memory, MemoryLimit{event.rss_bytes, event.limit_bytes});
}

void Stepper::on(const Joined& event) {
  auto* running = in<Running>();
  if (running == nullptr || running->process.pid != event.pid) return;
  if (!running->process.joined_at) running->process.joined_at = now_;
}

void Stepper::on(const Reset&) {
  state_.backoff = reset_ladder(state_.backoff, policy_.restart);
}

void Stepper::on(const Shutdown& event) {
  const Instant by = state_.shutdown_by.value_or(event.kill_by);
  state_.shutdown_by = std::min(by, event.kill_by);
  if (auto* stopping = in<Stopping>()) {
    stopping->kill_at = std::min(stopping->kill_at, *state_.shutdown_by);
    if (stopping->kill_at <= now_) {
      return begin_kill(stopping->process, stopping->reason, stopping->memory);
    }
  }
  settle();
}

}  // namespace

State initial_state(Instant now) {
  State state;
  state.phase = Down{now};
  return state;
}

Step step(const State& state, const Event& event, const Policy& policy, Instant now,
          Random& random) {
  Stepper stepper(state, policy, now, random);
  std::visit([&stepper](const auto& what) { stepper.on(what); }, event);
  return stepper.finish(deadline(state), std::holds_alternative<Timer>(event));
}

}  // namespace fdbpack::supervise
