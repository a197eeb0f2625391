// SPDX-License-Identifier: Apache-2.0
#include "agent/status_page.hpp"

#include "agent/api/host_json.hpp"
#include "fdbpack/base/calendar.hpp"
#include "fdbpack/wire/json_writer.hpp"

namespace fdbpack::agent {
namespace {

using wire::JsonWriter;

void write_agent(JsonWriter& json, const AgentFacts& facts, const Supervisor& supervisor,
                 const World& world) {
  json.key("agent")
      .begin_object()
      .member("version", facts.version)
      .member("pid", facts.pid)
      .member("started_at", rfc3339(facts.started_at))
      .member("stopping", facts.is_stopping)
      .member("strangers_reaped", supervisor.strangers())
      .member("log_lines_dropped", world.log.dropped())
      .end_object();
  json.key("degraded").begin_array();
  for (const auto& sentence : facts.degraded)
    json.value(sentence);
  json.end_array();
  json.key("http").begin_array();
  for (const auto& listener : facts.listeners) {
    json.begin_object().member("place", listener.place).member("open", listener.is_open);
    if (!listener.is_open) json.member("reason", listener.trouble);
    json.end_object();
  }
  json.end_array();
}

void write_conf(JsonWriter& json, const ConfKeeper& conf) {
  json.key("conf").begin_object().member("path", conf.path());
  json.member("accepted", !conf.refused_since().has_value());
  if (conf.refused_since()) json.member("refused_since", rfc3339(*conf.refused_since()));
  json.key("errors").begin_array();
  for (const auto& problem : conf.problems()) {
    json.begin_object()
        .member("line", static_cast<std::uint64_t>(problem.at.line))
        .member("column", static_cast<std::uint64_t>(problem.at.column))
        .member("severity", problem.severity == conf::Severity::error ? "error" : "warning")
        .member("message", problem.message)
        .end_object();
  }
  json.end_array().end_object();
}

void write_death(JsonWriter& json, const supervise::Death& death, const std::string& at) {
  json.key("last_exit")
      .begin_object()
      .member("cause", supervise::cause(death.exit))
      .member("message", supervise::to_string(death.exit))
      .member("pid", death.pid)
      .member("at", at)
      .member("ran_ms", std::int64_t{death.ran / std::chrono::milliseconds(1)})
      .member("asked_for", death.was_asked);
  if (const auto* exited = std::get_if<supervise::Exited>(&death.exit)) {
    json.member("code", exited->code);
  } else if (const auto* signalled = std::get_if<supervise::Signalled>(&death.exit)) {
    json.member("signal", signalled->signal);
  } else if (const auto* exec = std::get_if<supervise::ExecFailed>(&death.exit)) {
    json.member("errno", exec->error_number);
  } else if (const auto* spawn = std::get_if<supervise::SpawnFailed>(&death.exit)) {
    json.member("errno", spawn->error_number);
  }
  json.end_object();
}

void write_blocked(JsonWriter& json, const Blocked& blocked) {
  json.key("blocked_by").begin_object().member("what", blocked.thing);
  if (blocked.holder.pid > 0) {
    json.member("pid", blocked.holder.pid).member("name", blocked.holder.name);
  }
  json.end_object();
}

void write_output(JsonWriter& json, const Supervised& who, const World& world) {
  if (who.output) {
    const auto counters = world.output.counters(*who.output);
    json.member("output_lines", counters.lines)
        .member("output_bytes_dropped", counters.bytes_dropped)
        .member("output_lines_cut", counters.lines_cut);
  }
  json.key("last_lines").begin_array();
  for (const auto& line : who.lines.lines()) {
    json.begin_object()
        .member("at", rfc3339(line.at))
        .member("stream", line.stream == ports::Stream::err ? "stderr" : "stdout")
        .member("text", line.text)
        .end_object();
  }
  json.end_array();
}

}  // namespace

void write_process(JsonWriter& json, const Supervised& who, const Calendar& calendar,
                   const World& world) {
  const supervise::View view = supervise::describe(who.state);
  const auto at = [&](Instant instant) {
    return rfc3339(who.wall_times.at(instant, calendar.at(instant)));
  };
  json.begin_object().member("state", view.name);
  json.member("since", at(view.since));
  if (view.pid) json.member("pid", *view.pid);
  if (supervise::is_alive(who.state)) json.member("started_at", rfc3339(who.started_wall));
  json.member("restarts", view.restarts).member("quick_deaths", std::uint64_t{view.quick_deaths});
  json.member("adopted", view.is_adopted)
      .member("configured", view.is_configured)
      .member("held", view.is_held)
      .member("stuck", view.is_stuck)
      .member("stopped", view.pid && *view.pid == who.stopped_pid);
  if (who.is_join_unknown && !view.joined_at) {
    json.key("joined").null();
  } else {
    json.member("joined", view.joined_at.has_value());
  }
  if (view.pid) json.member("binary_replaced", world.processes.is_program_replaced(*view.pid));
  if (view.joined_at) json.member("joined_at", at(*view.joined_at));
  if (view.next_start_at) json.member("next_start_at", at(*view.next_start_at));
  if (view.kill_at) json.member("kill_at", at(*view.kill_at));
  if (view.stop_reason) json.member("stop_reason", supervise::to_string(*view.stop_reason));
  json.member("pending_change", supervise::to_string(view.pending));
  if (who.memory_limit_bytes > 0) {
    json.member("memory_limit_bytes", who.memory_limit_bytes)
        .member("memory_bytes", who.memory_bytes);
  }
  if (who.blocked_by) write_blocked(json, *who.blocked_by);
  if (view.last_death) write_death(json, *view.last_death, at(view.last_death->at));
  if (who.command) {
    json.key("argv").begin_array();
    for (const auto& argument : who.launch_argv.empty() ? who.command->argv : who.launch_argv) {
      json.value(without_secret(argument));
    }
    json.end_array();
    if (view.pending == supervise::PendingChange::command && !who.running_argv.empty()) {
      json.key("running_argv").begin_array();
      for (const auto& argument : who.running_argv)
        json.value(without_secret(argument));
      json.end_array();
    }
  }
  write_output(json, who, world);
  json.end_object();
}

void write_processes(JsonWriter& json, const Supervisor& supervisor, const World& world) {
  const Calendar calendar(world.clock);
  json.key("processes").begin_object();
  for (const auto& [section, who] : supervisor.processes()) {
    json.key(section);
    write_process(json, *who, calendar, world);
  }
  json.end_object();
}

std::string status_page(const AgentFacts& facts, const ConfKeeper& conf,
                        const Supervisor& supervisor, const HostWatch& host, const World& world) {
  JsonWriter json;
  json.begin_object();
  write_agent(json, facts, supervisor, world);
  write_conf(json, conf);
  wire::write_draining(json, host.draining());
  wire::write_conditions(json, host.conditions());
  write_storage(json, host);
  write_addresses(json, supervisor);
  write_processes(json, supervisor, world);
  json.end_object();
  return std::move(json).text() + "\n";
}

}  // namespace fdbpack::agent
