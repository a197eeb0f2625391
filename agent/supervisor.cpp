// SPDX-License-Identifier: Apache-2.0
#include "agent/supervisor.hpp"

#include "agent/launch_settings.hpp"
#include "agent/listen_address.hpp"
#include "agent/live_process.hpp"
#include "fdbpack/base/overloaded.hpp"
#include "fdbpack/base/text.hpp"
#include "fdbpack/conditions/condition.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace fdbpack::agent {
namespace {

constexpr std::string_view kJoinedLine = "FDBD joined cluster.";
constexpr auto kListenerPatience = std::chrono::seconds(30);

// What the live process was started with; the newest configuration when none lives.
supervise::Revision revision_in_force(const supervise::State& state) {
  return std::visit(
      [&](const auto& phase) {
        using Phase = std::remove_cvref_t<decltype(phase)>;
        if constexpr (std::is_same_v<Phase, supervise::Starting>) {
          return phase.revision;
        } else if constexpr (std::is_same_v<Phase, supervise::Running> ||
                             std::is_same_v<Phase, supervise::Stopping> ||
                             std::is_same_v<Phase, supervise::Killing>) {
          return phase.process.revision;
        } else {
          return state.desired;
        }
      },
      state.phase);
}

// fdbmonitor says some things about a process in its own name and some in the process's.
bool is_in_name_of_process(std::string_view text) {
  return text.starts_with("Process ") || text.starts_with("Launching ") ||
         text.starts_with("Unable to launch ");
}

bool is_variable(std::string_view entry, std::string_view name) {
  return entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=';
}

}  // namespace

Supervisor::Supervisor(World& world, SupervisorSettings settings, std::function<void()> on_change)
    : world_(world),
      settings_(std::move(settings)),
      on_change_(std::move(on_change)),
      random_(settings_.random_seed),
      alarm_(world.clock.make_alarm([this] { on_alarm(); })),
      memory_alarm_(world.clock.make_alarm([this] { sample_memory(); })),
      holder_alarm_(world.clock.make_alarm([this] { look_for_holder(); })),
      look_alarm_(world.clock.make_alarm([this] { look_at_processes(); })) {}

Supervisor::~Supervisor() = default;

Supervised& Supervisor::entry(const std::string& section) {
  auto& slot = processes_[section];
  if (!slot) {
    slot = std::make_unique<Supervised>();
    slot->section = section;
    slot->policy.section = section;
    slot->policy.stop_grace = settings_.stop_grace;
    slot->state = supervise::initial_state(world_.clock.now());
    if (const auto held = held_outside_.extract(section)) {
      slot->state.is_held = true;
      slot->state.starts = held.mapped();
    }
  }
  return *slot;
}

void Supervisor::adopt(const ports::Found& found, const wire::ProcessRecord* record,
                       std::optional<ports::OutputFds> streams) {
  Supervised& who = entry(found.section);
  who.child = world_.launcher.adopt(found.pid, found.pidfd,
                                    [this, &who](const supervise::Exit& exit, bool group_lives) {
                                      on_exit(who, exit, group_lives);
                                    });
  auto output = streams ? world_.output.take(found.section, *streams)
                        : world_.output.adopt(found.section, found.pid);
  if (output) {
    who.output = *output;
    by_output_[*output] = &who;
  } else {
    world_.log.write(supervise::Severity::warning, kLogName,
                     "The output of " + found.section + " is not read: " + output.error().message);
  }
  const Instant now = world_.clock.now();
  supervise::Adopted event;
  event.pid = found.pid;
  event.since = now;
  event.revision = found.revision.value_or(supervise::Revision{});
  const bool is_recorded = record != nullptr && record->pid == found.pid;
  who.is_join_unknown = !is_recorded || record->is_join_unknown;
  if (is_recorded) {
    event.since = std::min(record->since, now);
    event.revision = record->revision;
    event.starts = record->starts;
    event.joined_at = record->joined_at;
    who.kill_on_change = record->kill_on_change;
    who.is_restart_due = record->is_restart_due;
    who.memory_limit_bytes = record->memory_limit_bytes;
  }
  const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(now - event.since);
  who.started_wall = world_.clock.wall() - age;
  who.cgroup = world_.cgroups.find(found.section, found.pid);
  if (!who.cgroup.empty()) who.oom_kills = world_.cgroups.oom_kills(found.section).value_or(0);
  watch_memory(who);
  dispatch(who, event);
  if (!std::exchange(is_look_alarm_set_, true)) look_alarm_->set(now);
}

void Supervisor::hold_back(const ports::Found& found, const wire::ProcessRecord* record) {
  const std::string section = found.section;
  HeldBack& held = held_back_[section];
  held.pid = found.pid;
  if (record != nullptr) held.record = *record;
  if (found.pidfd < 0) return;
  held.child =
      world_.launcher.adopt(found.pid, found.pidfd, [this, section](const supervise::Exit&, bool) {
        const auto child = std::move(held_back_[section].child);
        held_back_.erase(section);
        if (loaded_ != nullptr) apply(*loaded_);
      });
}

bool Supervisor::is_held_back(const std::string& section) const {
  return held_back_.contains(section) || (!shortage_.empty() && !processes_.contains(section));
}

void Supervisor::hold(const std::string& section, std::uint64_t starts) {
  Supervised& who = entry(section);
  who.state.starts = std::max(who.state.starts, starts);
  dispatch(who, supervise::Stop{});
}

void Supervisor::recall(const std::string& section, std::uint64_t starts) {
  if (is_held_back(section) || processes_.contains(section)) return;
  entry(section).state.starts = starts;
}

void Supervisor::apply(const LoadedConf& loaded) {
  loaded_ = &loaded;
  std::vector<supervise::Supervised> now;
  now.reserve(processes_.size());
  for (const auto& [section, who] : processes_) {
    now.push_back({section, revision_in_force(who->state), who->command, who->kill_on_change,
                   supervise::is_alive(who->state)});
  }
  for (const auto& change : supervise::plan_changes(now, loaded.conf)) {
    apply_change(change, loaded);
  }
  on_change_();
}

void Supervisor::apply_change(const supervise::Change& change, const LoadedConf& loaded) {
  if (is_held_back(change.section)) return;
  if (change.kind == supervise::ChangeKind::refused) return;
  if (change.command == nullptr) {
    const bool kill = change.kind == supervise::ChangeKind::deconfigured_kill;
    return dispatch(entry(change.section), supervise::Deconfigured{kill});
  }
  const conf::ProcessCommand& command = *change.command;
  Supervised& who = entry(change.section);
  const auto index = static_cast<std::size_t>(change.command - loaded.conf.processes.data());
  who.launch_argv =
      loaded.launch_argv.empty() ? std::vector<std::string>() : loaded.launch_argv.at(index);
  who.identity = loaded.identity;
  who.unknown_account.reset();
  if (!who.identity && !(loaded.conf.user.empty() && loaded.conf.group.empty())) {
    who.unknown_account.emplace(loaded.conf.user, loaded.conf.group);
  }
  const bool is_known = who.state.is_configured;
  if (change.kind == supervise::ChangeKind::unchanged && is_known) return;
  who.command = command;
  who.kill_on_change = command.kill_on_configuration_change;
  who.policy = supervise::policy_of(command, settings_.stop_grace);
  who.policy.section = who.section;
  const auto revision = supervise::revision_of(command, loaded.conf.user, loaded.conf.group);
  const auto* process = live_process(who.state);
  if (process != nullptr && who.memory_limit_bytes == 0 && process->revision == revision) {
    who.memory_limit_bytes = command.memory_limit_bytes;  // adopted, and no record told it
    watch_memory(who);
  }
  dispatch(who, supervise::Configured{revision, command.kill_on_configuration_change});
  // Not before: the time that it has to stop is in the conf.
  if (std::exchange(who.is_restart_due, false) && live_process(who.state) != nullptr) {
    dispatch(who, supervise::Restart{});
  }
}

// Some may be forgotten by it.
void Supervisor::dispatch_to_all(const supervise::Event& event) {
  std::vector<std::string> sections;
  sections.reserve(processes_.size());
  for (const auto& [section, who] : processes_)
    sections.push_back(section);
  for (const auto& section : sections) {
    const auto found = processes_.find(section);
    if (found != processes_.end()) dispatch(*found->second, event);
  }
}

void Supervisor::reset() {
  dispatch_to_all(supervise::Reset{});
}

void Supervisor::shut_down(Instant kill_by) {
  held_back_.clear();
  dispatch_to_all(supervise::Shutdown{kill_by});
}

// Events that come up while one is being dealt with wait until it is: its actions are performed in
// their order, and nobody is forgotten under the feet of a caller.
void Supervisor::dispatch(Supervised& who, supervise::Event event) {
  pending_.push_back({&who, std::move(event)});
  if (is_dispatching_) return;
  is_dispatching_ = true;
  while (!pending_.empty()) {
    const Pending next = std::move(pending_.front());
    pending_.pop_front();
    take_step(*next.who, next.event);
  }
  is_dispatching_ = false;
  for (const auto& section : std::exchange(forgotten_, {})) {
    Supervised& gone = *processes_.at(section);
    set_timer(gone, std::nullopt);
    if (gone.output) {
      world_.output.drain(*gone.output);
      by_output_.erase(*gone.output);
      world_.output.close(*gone.output);
    }
    if (gone.is_stored) world_.notifier.unstore(section);
    if (gone.state.is_held) held_outside_[section] = gone.state.starts;
    if (!gone.cgroup.empty()) world_.cgroups.remove(section);
    processes_.erase(section);
  }
  on_change_();
}

void Supervisor::take_step(Supervised& who, const supervise::Event& event) {
  auto step = supervise::step(who.state, event, who.policy, world_.clock.now(), random_);
  who.state = std::move(step.state);
  for (const auto& action : step.actions)
    perform(who, action);
  if (!supervise::is_alive(who.state)) who.child.reset();
}

void Supervisor::perform(Supervised& who, const supervise::Action& action) {
  std::visit(Overloaded{
                 [&](const supervise::Launch& order) { launch(who, order.revision); },
                 [&](const supervise::SendSignal& send_signal) { send(who, send_signal); },
                 [&](const supervise::SetTimer& timer) { set_timer(who, timer.at); },
                 [&](const supervise::Note& text) { note(who, text); },
                 [&](const supervise::Forgotten&) { forgotten_.push_back(who.section); },
             },
             action);
}

// A process whose user nobody knows must not run as the agent's user, which may be root: its files
// would be root's. It waits like any other that cannot be started; accounts may come later.
Status Supervisor::find_account(Supervised& who) {
  if (!who.unknown_account) return {};
  auto identity = world_.accounts.look_up(who.unknown_account->first, who.unknown_account->second);
  if (!identity) return fail(identity.error());
  who.identity = *std::move(identity);
  who.unknown_account.reset();
  return {};
}

void Supervisor::launch(Supervised& who, const supervise::Revision& revision) {
  who.child.reset();  // has ended; at the limit its descriptor is the one that the new one needs
  if (const auto found = find_account(who); !found) {
    return dispatch(who, supervise::LaunchFailed{supervise::SpawnFailed{0, found.error().message}});
  }
  open_output(who);
  who.cgroup = world_.cgroups.prepare(who.section);
  if (!who.cgroup.empty()) who.oom_kills = world_.cgroups.oom_kills(who.section).value_or(0);
  const ports::LaunchPlan plan = plan_for(who, revision);
  auto outcome =
      world_.launcher.launch(plan, [this, &who](const supervise::Exit& exit, bool group_lives) {
        on_exit(who, exit, group_lives);
      });
  if (const auto* error = std::get_if<ports::LaunchError>(&outcome)) {
    return dispatch(who, supervise::LaunchFailed{error->exit});
  }
  who.child = std::move(std::get<std::unique_ptr<ports::Child>>(outcome));
  who.stamp.reset();
  who.blocked_by.reset();
  who.is_join_unknown = false;
  who.is_stored = false;
  who.started_wall = world_.clock.wall();
  who.running_argv = plan.argv;
  who.memory_limit_bytes = who.command->memory_limit_bytes;
  watch_memory(who);
  if (!std::exchange(is_look_alarm_set_, true)) {
    look_alarm_->set(world_.clock.now() + settings_.look_every);
  }
  dispatch(who, supervise::Launched{who.child->pid()});
}

ports::LaunchPlan Supervisor::plan_for(const Supervised& who,
                                       const supervise::Revision& revision) const {
  ports::LaunchPlan plan;
  plan.argv = who.launch_argv.empty() ? who.command->argv : who.launch_argv;
  const auto& deleted = who.command->deleted_environment;
  const auto is_deleted = [&](std::string_view entry) {
    return std::any_of(deleted.begin(), deleted.end(),
                       [&](const std::string& name) { return is_variable(entry, name); });
  };
  const auto is_set = [&](std::string_view entry) {
    const auto& set = who.command->environment;
    return entry.starts_with("FDBPACK_") ||
           std::any_of(set.begin(), set.end(),
                       [&](const auto& variable) { return is_variable(entry, variable.first); });
  };
  plan.environment.reserve(settings_.environment.size() + 4);
  for (const std::string& variable : settings_.environment) {
    if (!is_deleted(variable) && !is_set(variable)) plan.environment.push_back(variable);
  }
  for (const auto& [name, value] : who.command->environment) {
    std::string variable = name + "=" + value;
    if (!is_deleted(variable)) plan.environment.push_back(std::move(variable));
  }
  plan.environment.push_back(std::string(ports::kMarkerAgent) + "=" + settings_.agent_id);
  plan.environment.push_back(std::string(ports::kMarkerProcess) + "=" + who.section);
  plan.environment.push_back(std::string(ports::kMarkerRevision) + "=" + wire::print(revision));
  if (who.output) {
    const auto streams = world_.output.fds(*who.output);
    plan.stdout_fd = streams.out;
    plan.stderr_fd = streams.err;
  }
  plan.identity = who.identity;
  plan.cgroup = who.cgroup;
  plan.limits = settings_.limits;
  plan.working_directory = settings_.working_directory;
  apply_settings(who.command->settings, plan);
  plan.dies_with_parent = settings_.dies_with_agent;
  return plan;
}

void Supervisor::open_output(Supervised& who) {
  if (who.output) return;
  const auto opened = world_.output.open(who.section);
  if (!opened) {
    world_.log.write(supervise::Severity::error, kLogName,
                     "The output of " + who.section + " is lost: " + opened.error().message);
    return;
  }
  who.output = *opened;
  by_output_[*opened] = &who;
}

void Supervisor::send(Supervised& who, const supervise::SendSignal& action) {
  if (!who.child) return;
  const int error_number = action.target == supervise::SignalTarget::group
                               ? who.child->signal_group(action.signal)
                               : who.child->signal_process(action.signal);
  if (error_number == ESRCH) {
    dispatch(who, supervise::GroupGone{action.pid});
  } else if (error_number != 0) {
    world_.log.write(supervise::Severity::error, who.section,
                     "Unable to signal process " + std::to_string(action.pid) + " (" +
                         std::strerror(error_number) + ")");
  }
}

void Supervisor::set_timer(Supervised& who, std::optional<Instant> at) {
  if (who.timer) timers_.erase({*who.timer, &who});
  who.timer = at;
  if (at) timers_.insert({*at, &who});
  if (timers_.empty()) {
    alarm_->clear();
  } else {
    alarm_->set(timers_.begin()->first);
  }
}

void Supervisor::on_alarm() {
  const Instant now = world_.clock.now();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    Supervised& who = *timers_.begin()->second;
    set_timer(who, std::nullopt);
    dispatch(who, supervise::Timer{});
  }
  if (!timers_.empty()) alarm_->set(timers_.begin()->first);
}

void Supervisor::note(const Supervised& who, const supervise::Note& note) {
  const std::string_view name =
      is_in_name_of_process(note.text) ? std::string_view(who.section) : kLogName;
  world_.log.write(note.severity, name, note.text);
}

// The kernel's SIGKILL looks like any other; the control group knows better.
supervise::Exit Supervisor::explain(const Supervised& who, const supervise::Exit& exit) const {
  const auto* signalled = std::get_if<supervise::Signalled>(&exit);
  if (who.cgroup.empty() || signalled == nullptr) return exit;
  if (signalled->signal != supervise::kSignalKill) return exit;
  const bool is_oom = world_.cgroups.oom_kills(who.section).value_or(0) > who.oom_kills;
  return is_oom ? supervise::Exit(supervise::OomKilled{}) : exit;
}

void Supervisor::on_exit(Supervised& who, const supervise::Exit& exit, bool group_lives) {
  if (who.output) world_.output.end_of_process(*who.output);
  const std::string section = who.section;  // it may be forgotten, and its child is
  const supervise::Exit explained = explain(who, exit);
  dispatch(who, supervise::ProcessExited{who.child->pid(), explained, group_lives});
  ask_for_holder(section, explained);
}

void Supervisor::on_line(ports::OutputId id, ports::Stream stream, std::string_view line) {
  const auto found = by_output_.find(id);
  if (found == by_output_.end()) return;
  Supervised& who = *found->second;
  const bool is_error = stream == ports::Stream::err;
  world_.log.write(is_error ? supervise::Severity::error : supervise::Severity::info, who.section,
                   line);
  who.lines.add(world_.clock.wall(), stream, line);
  if (conditions::tells_of_disk_failure(line)) {
    const auto shown = line.substr(0, LastLines::kLineBytesMax);
    who.disk_failure = DiskFailure{world_.clock.now(), std::string(shown)};
  }
  if (!is_error && text::trim(line) == kJoinedLine) look_for_listener(who);
  on_change_();
}

void Supervisor::look_for_listener(Supervised& who) {
  const auto* process = live_process(who.state);
  if (process == nullptr || process->joined_at) return;
  const auto address = who.command ? listen_address(who.command->argv) : std::nullopt;
  if (!address) return dispatch(who, supervise::Joined{process->pid});
  world_.probe.wait_for_listener(address->ip, address->port, kListenerPatience,
                                 [this, section = who.section, pid = process->pid](bool accepts) {
                                   if (accepts) joined(section, pid);
                                 });
}

void Supervisor::joined(const std::string& section, int pid) {
  const auto found = processes_.find(section);
  if (found != processes_.end()) dispatch(*found->second, supervise::Joined{pid});
}

void Supervisor::reap_strangers() {
  const std::size_t count = world_.launcher.reap_strangers();
  if (count == 0) return;
  strangers_ += count;
  for (const auto& [section, who] : processes_) {
    const auto* clearing = std::get_if<supervise::Clearing>(&who->state.phase);
    if (clearing == nullptr || !who->child || who->child->signal_group(0) != ESRCH) continue;
    dispatch(*who, supervise::GroupGone{clearing->pid});
    return reap_strangers();  // the map may have changed
  }
}

Duration Supervisor::longest_grace() const {
  Duration longest = settings_.stop_grace;
  for (const auto& [section, who] : processes_) {
    if (supervise::is_alive(who->state)) longest = std::max(longest, who->policy.stop_grace);
  }
  return longest;
}

std::size_t Supervisor::live() const {
  return static_cast<std::size_t>(
      std::count_if(processes_.begin(), processes_.end(),
                    [](const auto& entry) { return supervise::is_alive(entry.second->state); }));
}

}  // namespace fdbpack::agent
