// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/supervise/sim_agent.hpp"

#include "fdbpack/base/overloaded.hpp"

#include <algorithm>
#include <cmath>

namespace fdbpack::supervise::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

// In the order of Event.
constexpr std::array kEventNames = {
    "configured", "deconfigured",    "start",  "stop",       "restart",
    "launched",   "launch_failed",   "exited", "group_gone", "timer",
    "adopted",    "memory_exceeded", "joined", "reset",      "shutdown"};
static_assert(kEventNames.size() == std::variant_size_v<Event>);

double as_seconds(std::chrono::seconds value) {
  return static_cast<double>(value.count());
}

double initial_of(const model::RestartPolicy& policy) {
  return as_seconds(std::min(policy.delay_initial, policy.delay_max));
}

// Whether a start that this event leads to was asked for: by an administrator, a configuration, or
// because the process was stopped in order to start anew.
bool is_asked_for(const State& before, const Event& event) {
  if (std::holds_alternative<Configured>(event) || std::holds_alternative<Start>(event) ||
      std::holds_alternative<Restart>(event)) {
    return true;
  }
  if (const auto* stopping = std::get_if<Stopping>(&before.phase)) {
    return stopping->reason != StopReason::memory;
  }
  if (const auto* killing = std::get_if<Killing>(&before.phase)) {
    return killing->reason != StopReason::memory;
  }
  if (const auto* clearing = std::get_if<Clearing>(&before.phase)) return clearing->is_at_once;
  if (const auto* starting = std::get_if<Starting>(&before.phase)) {
    return before.kill_on_change && starting->revision.command != before.desired.command;
  }
  return false;
}

}  // namespace

std::string Trace::show() const {
  std::string text;
  const std::size_t first = count_ > entries_.size() ? count_ - entries_.size() : 0;
  for (std::size_t i = first; i < count_; ++i) {
    const Entry& entry = entries_[i % entries_.size()];
    const auto at = std::chrono::duration_cast<milliseconds>(entry.now.time_since_epoch());
    text += "  " + std::to_string(at.count()) + " ms  p." + std::to_string(entry.id) + "  " +
            entry.what + " " + std::to_string(entry.value) + "\n";
  }
  return text;
}

void SimAgent::fail(int id, const std::string& what) {
  if (failure_.empty()) failure_ = "p." + std::to_string(id) + ": " + what;
}

const State* SimAgent::state(int id) const {
  const Slot& one = slots_[static_cast<std::size_t>(id)];
  return one.exists ? &one.state : nullptr;
}

std::size_t SimAgent::live() const {
  return static_cast<std::size_t>(std::count_if(slots_.begin(), slots_.end(), [](const Slot& one) {
    return one.exists && is_alive(one.state);
  }));
}

SimAgent::Slot& SimAgent::make_slot(int id, Instant now) {
  Slot& made = slot(id);
  made = Slot{};
  made.exists = true;
  made.state = initial_state(now);
  made.policy.section = section_name(id);
  return made;
}

void SimAgent::begin(const std::string& conf_text, Instant now) {
  for (SimProcess& process : table_.all()) {
    if (process.is_alive || process.group_lives) adopt(process, now);
  }
  const auto last_good = disk_.last_good;
  read_conf(conf_text, now);
  if (last_good != nullptr && disk_.last_good == last_good) apply(*last_good, now);
}

void SimAgent::adopt(SimProcess& process, Instant now) {
  const int id = process.id;
  Slot& mine = make_slot(id, now);
  mine.serial = process.serial;
  mine.pid = process.pid;
  mine.is_own = false;
  mine.last_launch = process.since;
  process.is_watched = true;
  const StateFile::Record record = disk_.records[static_cast<std::size_t>(id)];
  // Its process died while no agent was there; only members of its group are left.
  const bool is_group_only = !process.is_alive;
  const int pid = process.pid;
  feed(id,
       Adopted{pid, process.since, process.revision, std::nullopt,
               std::max<std::uint64_t>(record.starts, 1)},
       now);
  if (is_group_only) {
    process.is_watched = false;
    feed(id, ProcessExited{pid, UnknownEnd{}, true}, now);
  }
  if (record.is_held && slot(id).exists) feed(id, Stop{}, now);
}

void SimAgent::read_conf(const std::string& text, Instant now, LoadCause cause) {
  const auto parsed = cache_.get(text);
  const auto last_good = disk_.last_good;
  std::optional<ConfView> last;
  if (last_good != nullptr) last.emplace(ConfView{last_good->text, last_good->conf});
  const auto reasons = refusal_reasons({parsed->text, parsed->conf}, parsed->diagnostics,
                                       last ? &*last : nullptr, live(), cause);
  trace_.add(now, 9, reasons.empty() ? "conf accepted" : "conf refused");
  if (!reasons.empty()) return;
  disk_.last_good = parsed;
  apply(*parsed, now);
}

void SimAgent::apply(const ParsedConf& parsed, Instant now) {
  std::vector<Supervised> known;
  for (int id = 0; id < kIds; ++id) {
    const Slot& one = slot(id);
    if (!one.exists) continue;
    known.push_back({section_name(id), current_revision(one.state), one.command, one.kill_on_change,
                     is_alive(one.state)});
  }
  for (const Change& change : plan_changes(known, parsed.conf))
    apply(change, parsed.conf, now);
}

void SimAgent::apply(const Change& change, const conf::MonitorConf& conf, Instant now) {
  const int id = id_of(change.section);
  if (change.kind == ChangeKind::unchanged || change.kind == ChangeKind::refused) return;
  if (change.kind == ChangeKind::deconfigured_kill ||
      change.kind == ChangeKind::deconfigured_leave) {
    slot(id).command.reset();
    return feed(id, Deconfigured{change.kind == ChangeKind::deconfigured_kill}, now);
  }
  if (!slot(id).exists) {
    const bool is_held = disk_.records[static_cast<std::size_t>(id)].is_held;
    make_slot(id, now);
    if (is_held) feed(id, Stop{}, now);
  }
  Slot& mine = slot(id);
  const Revision revision = revision_of(*change.command, conf.user, conf.group);
  const bool is_new_command =
      mine.state.is_configured && revision.command != mine.state.desired.command;
  mine.policy = policy_of(*change.command, seconds(10));
  mine.command = *change.command;
  mine.kill_on_change = change.command->kill_on_configuration_change;
  const double initial = initial_of(mine.policy.restart);
  const double max = as_seconds(mine.policy.restart.delay_max);
  mine.ladder_s = is_new_command ? initial : std::clamp(mine.ladder_s, initial, max);
  const int signals = mine.signals;
  feed(id, Configured{revision, mine.kill_on_change}, now);
  if (change.kind == ChangeKind::settings && slot(id).signals != signals) {
    fail(id, "a section whose command line did not change got a signal");
  }
}

void SimAgent::command(int id, const Event& event, Instant now) {
  if (slot(id).exists) feed(id, event, now);
}

void SimAgent::hang_up(const std::string& conf_text, Instant now) {
  for (int id = 0; id < kIds; ++id) {
    Slot& mine = slot(id);
    if (!mine.exists) continue;
    mine.ladder_s = initial_of(mine.policy.restart);
    feed(id, Reset{}, now);
  }
  read_conf(conf_text, now, LoadCause::asked);
}

void SimAgent::shut_down(Instant kill_by, Instant now) {
  for (int id = 0; id < kIds; ++id)
    command(id, Shutdown{kill_by}, now);
}

Instant SimAgent::next_event() const {
  Instant next = kNever;
  for (const Slot& one : slots_) {
    if (!one.exists) continue;
    if (one.timer) next = std::min(next, *one.timer);
    if (one.launch_at) next = std::min(next, *one.launch_at);
    next = std::min(next, one.exit_seen_at);
  }
  return next;
}

void SimAgent::advance(Instant now) {
  for (int id = 0; id < kIds; ++id) {
    Slot& mine = slot(id);
    if (!mine.exists) continue;
    if (mine.launch_at && *mine.launch_at <= now) finish_launch(id, now);
    SimProcess* held = table_.find(mine.serial);
    if (held != nullptr && held->is_watched && !held->is_alive) {
      // Somebody else reaps what is not our child, and its pid is free before we have seen it.
      if (!mine.is_own && !held->is_reaped) table_.reap(*held);
      if (mine.exit_seen_at == kNever) {
        mine.exit_seen_at = now + milliseconds(random_.between(0, 20));
      }
    }
    if (mine.exit_seen_at <= now) see_exit(id, now);
    if (slot(id).exists && mine.timer && *mine.timer <= now) {
      mine.timer.reset();
      feed(id, Timer{}, now);
    }
  }
}

void SimAgent::finish_launch(int id, Instant now) {
  Slot& mine = slot(id);
  mine.launch_at.reset();
  if (faults_.failing > 0) {
    --faults_.failing;
    const Exit exit = random_.chance(0.5) ? Exit(ExecFailed{2}) : Exit(SpawnFailed{11});
    return feed(id, LaunchFailed{exit}, now);
  }
  if (table_.count_living(id) != 0) fail(id, "a second copy was started");
  SimProcess& process = table_.spawn(id, mine.launch_revision, now);
  process.is_watched = true;
  process.ignores_term = faults_.ignore_term && random_.chance(0.5);
  process.leaves_group = faults_.leave_group && random_.chance(0.5);
  if (faults_.quick_exits > 0) {
    --faults_.quick_exits;
    table_.exit_at(process, now + milliseconds(random_.between(0, 20)),
                   Exited{faults_.quick_exit_code});
  }
  mine.serial = process.serial;
  mine.pid = process.pid;
  mine.is_own = true;
  mine.exit_seen_at = kNever;
  feed(id, Launched{process.pid}, now);
}

void SimAgent::see_exit(int id, Instant now) {
  Slot& mine = slot(id);
  mine.exit_seen_at = kNever;
  SimProcess& process = *table_.find(mine.serial);
  process.is_watched = false;
  if (!process.is_reaped) table_.reap(process);
  const bool can_be_read = mine.is_own || random_.chance(0.5);
  const Exit exit = can_be_read ? process.exit : Exit(UnknownEnd{});
  feed(id, ProcessExited{process.pid, exit, process.group_lives}, now);
}

// The dumb second opinion on when the next start may be at the soonest.
void SimAgent::count_end(Slot& mine, const Event& event, Instant now) {
  const Exit* exit = nullptr;
  if (const auto* exited = std::get_if<ProcessExited>(&event)) {
    if (exited->pid == mine.pid && !exited->group_lives) exit = &exited->exit;
  } else if (const auto* failed = std::get_if<LaunchFailed>(&event)) {
    exit = &failed->exit;
  } else if (const auto* gone = std::get_if<GroupGone>(&event)) {
    const auto* clearing = std::get_if<Clearing>(&mine.state.phase);
    if (clearing != nullptr && clearing->pid == gone->pid) exit = &clearing->exit;
  }
  if (exit == nullptr || is_asked_for(mine.state, event)) return;
  const bool wants = mine.state.is_configured && !mine.state.is_held && !mine.state.shutdown_by;
  if (!wants) return;
  const auto* stopping = std::get_if<Stopping>(&mine.state.phase);
  const auto* killing = std::get_if<Killing>(&mine.state.phase);
  const bool is_memory =
      (stopping != nullptr && stopping->memory) || (killing != nullptr && killing->memory);
  const model::RestartPolicy& policy = mine.policy.restart;
  if (now - mine.last_launch >= policy.reset_interval) mine.ladder_s = initial_of(policy);
  const double least = std::max(0.0, std::round(mine.ladder_s) + std::floor(-0.1 * mine.ladder_s));
  mine.ladder_s =
      std::min(as_seconds(policy.delay_max), policy.backoff * std::max(1.0, mine.ladder_s));
  const bool is_clean = *exit == Exit(Exited{0}) && !is_memory;
  mine.not_before = is_clean ? now : now + seconds(std::llround(least));
}

void SimAgent::feed(int id, const Event& event, Instant now) {
  Slot& mine = slot(id);
  ++steps_;
  trace_.add(now, id, kEventNames[event.index()]);
  count_end(mine, event, now);
  is_commanded_ = is_asked_for(mine.state, event);
  Step next = step(mine.state, event, mine.policy, now, random_);
  mine.state = next.state;
  disk_.records[static_cast<std::size_t>(id)] = {mine.state.starts, mine.state.is_held};
  for (const Action& action : next.actions)
    perform(id, action, now);
  if (!mine.exists) return;
  check(id);
  // The loop's part of the contract: a group signal that reached nobody means it is gone.
  const auto* clearing = std::get_if<Clearing>(&mine.state.phase);
  if (clearing == nullptr) return;
  const SimProcess* process = table_.find(mine.serial);
  if (process == nullptr || !process->group_lives) feed(id, GroupGone{clearing->pid}, now);
}

void SimAgent::perform(int id, const Action& action, Instant now) {
  Slot& mine = slot(id);
  std::visit(Overloaded{[&](const Launch& launch) { ask_launch(id, launch, now); },
                        [&](const SendSignal& signal) { send(id, signal, now); },
                        [&](const SetTimer& timer) { mine.timer = timer.at; },
                        [&](const Note& note) {
                          if (note.text.empty()) fail(id, "a note without text");
                        },
                        [&](const Forgotten&) {
                          if (table_.count_living(id) != 0) fail(id, "forgotten while it lives");
                          mine = Slot{};
                          disk_.records[static_cast<std::size_t>(id)] = {};
                        }},
             action);
}

void SimAgent::ask_launch(int id, const Launch& launch, Instant now) {
  Slot& mine = slot(id);
  trace_.add(now, id, is_commanded_ ? "launch, asked for" : "launch");
  if (mine.launch_at) fail(id, "a launch while another is under way");
  if (table_.count_living(id) != 0) fail(id, "a launch while something lives");
  if (mine.state.is_held) fail(id, "a launch while an administrator holds it");
  if (mine.state.shutdown_by) fail(id, "a launch during a shutdown");
  if (!mine.state.is_configured) fail(id, "a launch without a configuration");
  if (!is_commanded_) {
    if (now < mine.not_before) fail(id, "a restart before the ladder allows it");
    Instant& oldest = mine.launches[mine.launch_count % mine.launches.size()];
    if (mine.launch_count >= mine.launches.size() && now - oldest < seconds(1)) {
      fail(id, "too many restarts in a second");
    }
    oldest = now;
    ++mine.launch_count;
  }
  mine.last_launch = now;
  mine.launch_revision = launch.revision;
  mine.launch_at = now + milliseconds(random_.chance(0.5) ? 0 : random_.between(1, 50));
}

void SimAgent::send(int id, const SendSignal& signal, Instant now) {
  Slot& mine = slot(id);
  trace_.add(now, id, "signal", signal.signal);
  ++mine.signals;
  if (signal.pid != mine.pid) fail(id, "a signal to another process");
  if (signal.target != SignalTarget::group) fail(id, "a signal not to the whole group");
  if (SimProcess* process = table_.find(mine.serial)) table_.signal(*process, signal.signal, now);
}

void SimAgent::check(int id) {
  const Slot& mine = slot(id);
  const View view = describe(mine.state);
  if (mine.timer != deadline(mine.state)) fail(id, "the timer is not the state's deadline");
  const bool is_pending = view.name != "down" && view.name != "starting" && view.name != "running";
  if (mine.timer.has_value() != is_pending) fail(id, "a timer without need, or need without one");
  if (view.next_start_at.has_value() != (view.name == "waiting")) fail(id, "next start is wrong");
  if (view.is_configured != mine.command.has_value()) fail(id, "configured is wrong");
  if (mine.launch_at.has_value() != (view.name == "starting")) fail(id, "starting is wrong");
  check_process(id, view);
}

void SimAgent::check_process(int id, const View& view) {
  const Slot& mine = slot(id);
  const SimProcess* process = table_.find(mine.serial);
  if (view.name == "down" || view.name == "waiting" || view.name == "starting") {
    if (table_.count_living(id) != 0) fail(id, "said to be gone, but it lives");
    return;
  }
  if (view.pid != mine.pid) fail(id, "the pid is wrong");
  if (view.name == "clearing") {
    if (process != nullptr && process->is_alive) fail(id, "clearing, but the process lives");
    return;
  }
  if (process == nullptr || !(process->is_alive || process->is_watched)) {
    return fail(id, "said to live, but it is gone");
  }
  if (view.is_adopted == mine.is_own) fail(id, "adopted is wrong");
  if (!mine.command) return;
  const Revision wanted = revision_of(*mine.command, "", "");
  PendingChange pending = PendingChange::none;
  if (process->revision.settings != wanted.settings) pending = PendingChange::settings;
  if (process->revision.command != wanted.command) pending = PendingChange::command;
  if (view.pending != pending) fail(id, "the pending change is wrong");
  if (view.name == "running" && pending == PendingChange::command && mine.kill_on_change) {
    fail(id, "runs on with an old command line although it may be stopped");
  }
}

}  // namespace fdbpack::supervise::sim
