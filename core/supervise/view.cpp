// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/base/check.hpp"
#include "fdbpack/base/overloaded.hpp"
#include "fdbpack/supervise/machine.hpp"

namespace fdbpack::supervise {
namespace {

PendingChange compare(const Revision& running, const State& state) {
  if (!state.is_configured) return PendingChange::none;
  if (running.command != state.desired.command) return PendingChange::command;
  if (running.settings != state.desired.settings) return PendingChange::settings;
  return PendingChange::none;
}

void describe_process(const Process& process, const State& state, View& view) {
  view.pid = process.pid;
  view.joined_at = process.joined_at;
  view.is_adopted = process.is_adopted;
  view.pending = compare(process.revision, state);
}

struct Describe {
  const State& state;
  View& view;

  void operator()(const Down& phase) const {
    view.name = "down";
    view.since = phase.since;
  }
  void operator()(const Waiting& phase) const {
    view.name = "waiting";
    view.since = phase.since;
    view.next_start_at = phase.until;
  }
  void operator()(const Starting& phase) const {
    view.name = "starting";
    view.since = phase.since;
    view.pending = compare(phase.revision, state);
  }
  void operator()(const Running& phase) const {
    view.name = "running";
    view.since = phase.process.since;
    describe_process(phase.process, state, view);
  }
  void operator()(const Stopping& phase) const {
    view.name = "stopping";
    view.since = phase.since;
    view.kill_at = phase.kill_at;
    view.stop_reason = phase.reason;
    describe_process(phase.process, state, view);
  }
  void operator()(const Killing& phase) const {
    view.name = "killing";
    view.since = phase.since;
    view.stop_reason = phase.reason;
    view.is_stuck = phase.repeats > 0;
    describe_process(phase.process, state, view);
  }
  void operator()(const Clearing& phase) const {
    view.name = "clearing";
    view.since = phase.since;
    view.pid = phase.pid;
    view.is_stuck = phase.is_stuck;
  }
};

}  // namespace

std::string_view to_string(StopReason reason) {
  switch (reason) {
    case StopReason::administrator:
      return "administrator";
    case StopReason::restart:
      return "restart";
    case StopReason::configuration:
      return "configuration";
    case StopReason::deconfigured:
      return "deconfigured";
    case StopReason::memory:
      return "memory";
    case StopReason::shutdown:
      return "shutdown";
  }
  FDBPACK_UNREACHABLE();
}

std::string_view to_string(PendingChange change) {
  switch (change) {
    case PendingChange::none:
      return "none";
    case PendingChange::settings:
      return "settings";
    case PendingChange::command:
      return "command";
  }
  FDBPACK_UNREACHABLE();
}

std::optional<Instant> deadline(const State& state) {
  using Deadline = std::optional<Instant>;
  return std::visit(Overloaded{[](const Down&) { return Deadline(); },
                               [](const Waiting& phase) { return Deadline(phase.until); },
                               [](const Starting&) { return Deadline(); },
                               [](const Running&) { return Deadline(); },
                               [](const Stopping& phase) { return Deadline(phase.kill_at); },
                               [](const Killing& phase) { return Deadline(phase.again_at); },
                               [](const Clearing& phase) { return Deadline(phase.again_at); }},
                    state.phase);
}

bool is_alive(const State& state) {
  return !std::holds_alternative<Down>(state.phase) &&
         !std::holds_alternative<Waiting>(state.phase);
}

std::optional<Instant> runs_well_at(const State& state) {
  const auto* running = std::get_if<Running>(&state.phase);
  if (running == nullptr) return std::nullopt;
  return running->process.since + kQuickDeathBelow;
}

Revision current_revision(const State& state) {
  if (const auto* starting = std::get_if<Starting>(&state.phase)) return starting->revision;
  if (const auto* running = std::get_if<Running>(&state.phase)) return running->process.revision;
  if (const auto* stopping = std::get_if<Stopping>(&state.phase)) return stopping->process.revision;
  if (const auto* killing = std::get_if<Killing>(&state.phase)) return killing->process.revision;
  return state.desired;
}

View describe(const State& state) {
  View view;
  view.restarts = state.starts > 0 ? state.starts - 1 : 0;
  view.quick_deaths = state.quick_deaths;
  view.last_death = state.last_death;
  view.is_configured = state.is_configured;
  view.is_held = state.is_held;
  std::visit(Describe{state, view}, state.phase);
  return view;
}

}  // namespace fdbpack::supervise
