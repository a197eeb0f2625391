// SPDX-License-Identifier: Apache-2.0
#include "agent/api/operations.hpp"

#include "agent/status_page.hpp"
#include "fdbpack/base/check.hpp"

#include <algorithm>

namespace fdbpack::agent {
namespace {

supervise::Event event_of(Order order) {
  switch (order) {
    case Order::restart:
      return supervise::Restart{};
    case Order::stop:
      return supervise::Stop{};
    case Order::start:
      return supervise::Start{};
  }
  FDBPACK_UNREACHABLE();
}

// Why a process that was to run does not, in one sentence.
std::string failure_of(const Supervised& who) {
  std::string text = who.section + " does not run";
  if (who.state.last_death) text += ": it " + supervise::to_string(who.state.last_death->exit);
  if (who.blocked_by) text += "; somebody holds " + who.blocked_by->thing;
  const auto& lines = who.lines.lines();
  if (!lines.empty()) text += "; its last words: " + lines.back().text;
  return text;
}

}  // namespace

std::string_view to_string(Order order) {
  switch (order) {
    case Order::restart:
      return "restart";
    case Order::stop:
      return "stop";
    case Order::start:
      return "start";
  }
  FDBPACK_UNREACHABLE();
}

Operations::Operations(Agent& agent)
    : agent_(agent), alarm_(agent.world().clock.make_alarm([this] { look(); })) {}

Operations::~Operations() = default;

void Operations::begin(const std::string& section, Order order, Duration wait,
                       OnOutcome on_outcome) {
  Supervisor& supervisor = agent_.supervisor();
  if (supervisor.is_held_back(section)) {
    return on_outcome(http::problem(
        409, "a process that may be " + section + " lives and cannot be verified; end it first"));
  }
  const auto found = supervisor.processes().find(section);
  if (found == supervisor.processes().end()) {
    return on_outcome(http::problem(404, "there is no process '" + section + "'"));
  }
  const supervise::State& state = found->second->state;
  if (order != Order::stop && !state.is_configured) {
    return on_outcome(http::problem(409, section + " is not in the configuration any more"));
  }
  if (agent_.is_ending()) return on_outcome(http::problem(503, "the agent is stopping"));
  const Instant now = agent_.world().clock.now();
  waiting_.push_back({found->first, order, state.starts, now, now + wait, std::move(on_outcome)});
  static_cast<void>(supervisor.order(section, event_of(order)));
  note_change();
}

void Operations::note_change() {
  // Not from here: we may be on the way from a death to the next start.
  if (!waiting_.empty()) alarm_->set(agent_.world().clock.now());
}

http::Response Operations::done(const Waiting& waiting, int status, std::string_view outcome) {
  const auto& all = agent_.supervisor().processes();
  const auto found = all.find(waiting.section);
  wire::JsonWriter json;
  json.begin_object().member("id", waiting.section).member("outcome", outcome);
  if (found != all.end()) {
    json.key("process");
    write_process(json, *found->second, Calendar(agent_.world().clock), agent_.world());
  }
  json.end_object();
  return {status, "application/json", std::move(json).text() + "\n", {}, false};
}

std::optional<http::Response> Operations::outcome(const Waiting& waiting, Instant now,
                                                  std::optional<Instant>& again) {
  const auto& all = agent_.supervisor().processes();
  const auto found = all.find(waiting.section);
  if (found == all.end()) {
    if (waiting.order == Order::stop) return done(waiting, 200, "stopped");
    return http::problem(409, waiting.section + " was taken out of the configuration");
  }
  const Supervised& who = *found->second;
  const supervise::State& state = who.state;
  if (waiting.order == Order::stop) {
    if (!supervise::is_alive(state)) {
      // Somebody may have started it anew meanwhile; then it does not stay stopped.
      if (state.is_held || !state.is_configured) return done(waiting, 200, "stopped");
      return http::problem(409, waiting.section + " stopped, and was then told to start again");
    }
  } else {
    if (state.is_held) {
      return http::problem(409, waiting.section + " was then told to stop");
    }
    const auto* running = std::get_if<supervise::Running>(&state.phase);
    const bool is_new = waiting.order == Order::start || state.starts > waiting.starts_before;
    if (running != nullptr && is_new) {
      const Instant settled = running->process.since + kSettle;
      if (running->process.joined_at || now >= settled) {
        return done(waiting, 200, waiting.order == Order::start ? "started" : "restarted");
      }
      again = settled;
    } else if (std::holds_alternative<supervise::Waiting>(state.phase)) {
      return http::problem(503, failure_of(who));
    }
  }
  if (now >= waiting.until) return done(waiting, 202, "under way");
  again = std::min(again.value_or(waiting.until), waiting.until);
  return std::nullopt;
}

void Operations::look() {
  const Instant now = agent_.world().clock.now();
  std::optional<Instant> next;
  struct Ready {
    OnOutcome on_outcome;
    http::Response response;
    bool is_recorded = false;  // the next agent has to know of it
  };
  std::list<Ready> answers;
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    std::optional<Instant> again;
    auto answer = outcome(*at, now, again);
    if (answer) {
      const bool is_recorded = at->order != Order::restart && answer->status == 200;
      answers.push_back({std::move(at->on_outcome), *std::move(answer), is_recorded});
      at = waiting_.erase(at);
      continue;
    }
    if (again) next = std::min(next.value_or(*again), *again);
    ++at;
  }
  if (next) alarm_->set(*next);
  const std::string unsaved = answers.empty() ? "" : agent_.save_now();
  for (Ready& ready : answers) {
    const bool is_lost = ready.is_recorded && !unsaved.empty();
    ready.on_outcome(is_lost ? http::problem(500, std::string(kNotRecorded) + unsaved)
                             : std::move(ready.response));
  }
}

void Operations::end_all() {
  for (auto& waiting : std::exchange(waiting_, {}))
    waiting.on_outcome(http::problem(503, "the agent is stopping"));
}

}  // namespace fdbpack::agent
