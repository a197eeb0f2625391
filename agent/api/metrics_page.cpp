// SPDX-License-Identifier: Apache-2.0
#include "agent/api/metrics_page.hpp"

#include "fdbpack/metrics/metrics_text.hpp"

#include <map>
#include <set>

namespace fdbpack::agent {
namespace {

using metrics::Kind;
using metrics::MetricsText;

double seconds(WallTime at) {
  return std::chrono::duration<double>(at.time_since_epoch()).count();
}

// One family with a sample for each process.
template <class Value>
void each(MetricsText& text, const Supervisor& supervisor, std::string_view name, Kind kind,
          std::string_view help, Value value) {
  text.family(name, kind, help);
  for (const auto& [section, who] : supervisor.processes()) {
    if (const auto number = value(*who)) text.sample({{"process", section}}, *number);
  }
}

using Number = std::optional<std::uint64_t>;

void write_processes(MetricsText& text, const Supervisor& supervisor) {
  const auto is_up = [](const Supervised& who) {
    return std::holds_alternative<supervise::Running>(who.state.phase);
  };
  each(text, supervisor, "fdbpack_agent_process_up", Kind::gauge, "1 while the process runs.",
       [&](const Supervised& who) { return Number(is_up(who) ? 1 : 0); });
  each(text, supervisor, "fdbpack_agent_process_joined", Kind::gauge,
       "1 once the process has joined the database.", [](const Supervised& who) {
         const bool has_joined = supervise::describe(who.state).joined_at.has_value();
         return who.is_join_unknown && !has_joined ? Number() : Number(has_joined ? 1 : 0);
       });
  each(text, supervisor, "fdbpack_agent_process_held", Kind::gauge,
       "1 while an administrator holds the process stopped.",
       [](const Supervised& who) { return Number(who.state.is_held ? 1 : 0); });
  each(text, supervisor, "fdbpack_agent_process_starts_total", Kind::counter,
       "Starts of the process.", [](const Supervised& who) { return Number(who.state.starts); });
  each(text, supervisor, "fdbpack_agent_process_quick_deaths", Kind::gauge,
       "Ends of its own soon after a start, in a row.",
       [](const Supervised& who) { return Number(who.state.quick_deaths); });
  each(text, supervisor, "fdbpack_agent_process_pending_change", Kind::gauge,
       "1 while the process runs with another configuration than the one in force.",
       [](const Supervised& who) {
         const auto pending = supervise::describe(who.state).pending;
         return Number(pending == supervise::PendingChange::none ? 0 : 1);
       });
  each(text, supervisor, "fdbpack_agent_process_start_time_seconds", Kind::gauge,
       "When the process that runs was started, since the epoch.", [&](const Supervised& who) {
         return is_up(who) ? std::optional<double>(seconds(who.started_wall)) : std::nullopt;
       });
  each(text, supervisor, "fdbpack_agent_process_memory_bytes", Kind::gauge,
       "Resident memory when it was last looked at.", [&](const Supervised& who) {
         return is_up(who) && who.memory_bytes > 0 ? Number(who.memory_bytes) : Number();
       });
}

void write_storage(MetricsText& text, const HostWatch& host) {
  std::map<std::uint64_t, const DataDirectory*> units;
  for (const auto& [path, dir] : host.directories()) {
    if (dir.reading && dir.reading->device != 0) units.try_emplace(dir.reading->device, &dir);
  }
  const auto family = [&](std::string_view name, std::string_view help, auto value) {
    text.family(name, Kind::gauge, help);
    for (const auto& [device, dir] : units)
      text.sample({{"unit", dir->key.empty() ? dir->path : dir->key}}, value(*dir->reading));
  };
  family("fdbpack_agent_storage_total_bytes", "Size of the file system.",
         [](const auto& reading) { return reading.total_bytes; });
  family("fdbpack_agent_storage_free_bytes", "Room on the file system.",
         [](const auto& reading) { return reading.free_bytes; });
  family("fdbpack_agent_storage_read_only", "1 where the file system cannot be written to.",
         [](const auto& reading) { return std::uint64_t{reading.is_read_only ? 1U : 0U}; });
  text.family("fdbpack_agent_data_directory_used_bytes", Kind::gauge,
              "Room that the files of a data directory take.");
  for (const auto& [path, dir] : host.directories()) {
    if (dir.reading && dir.reading->has_use) {
      text.sample({{"directory", path}}, dir.reading->used_bytes);
    }
  }
}

void write_agent(MetricsText& text, Agent& agent) {
  const AgentFacts& facts = agent.facts();
  const auto one = [&](std::string_view name, Kind kind, std::string_view help, auto value) {
    text.family(name, kind, help);
    text.sample({}, value);
  };
  text.family("fdbpack_agent_build_info", Kind::gauge, "The program, as labels.");
  text.sample({{"version", facts.version}}, std::uint64_t{1});
  one("fdbpack_agent_start_time_seconds", Kind::gauge, "When the agent started, since the epoch.",
      seconds(facts.started_at));
  one("fdbpack_agent_degraded_features", Kind::gauge, "Things that do not work on this host.",
      std::uint64_t{facts.degraded.size()});
  one("fdbpack_agent_conf_accepted", Kind::gauge, "1 while the conf that is there is in force.",
      std::uint64_t{agent.conf().refused_since() ? 0U : 1U});
  one("fdbpack_agent_conf_loads_total", Kind::counter, "Confs that came into force.",
      agent.conf_changes());
  if (agent.conf_changed_at()) {
    one("fdbpack_agent_conf_load_time_seconds", Kind::gauge,
        "When a conf last came into force, since the epoch.", seconds(*agent.conf_changed_at()));
  }
  one("fdbpack_agent_draining", Kind::gauge, "1 while the host is to be given up.",
      std::uint64_t{agent.host().draining() ? 1U : 0U});
  one("fdbpack_agent_strangers_reaped_total", Kind::counter,
      "Processes of others that ended as our children.", agent.supervisor().strangers());
  one("fdbpack_agent_log_lines_dropped_total", Kind::counter, "Log lines that nobody took.",
      agent.world().log.dropped());
  text.family("fdbpack_agent_condition", Kind::gauge, "1 while the condition holds.");
  for (const auto& condition : agent.host().conditions()) {
    text.sample({{"type", conditions::to_string(condition.type)}, {"process", condition.process}},
                std::uint64_t{condition.is_active ? 1U : 0U});
  }
}

void write_service(MetricsText& text, const ServiceCounts& service, const ApiCounts& api) {
  const auto count = [&](std::string_view name, std::string_view help, std::uint64_t value) {
    text.family(name, Kind::counter, help);
    text.sample({}, value);
  };
  count("fdbpack_agent_http_requests_total", "Requests that were answered.", service.requests);
  count("fdbpack_agent_http_bad_requests_total", "Requests that were none.", service.bad_requests);
  count("fdbpack_agent_http_connections_total", "Connections that were taken.",
        service.connections);
  count("fdbpack_agent_http_refused_total", "Connections for which there was no room.",
        service.refused);
  count("fdbpack_agent_http_evicted_total", "Connections that gave way.", service.evicted);
  count("fdbpack_agent_http_timeouts_total", "Clients that were too slow.", service.timeouts);
  count("fdbpack_agent_http_handshake_failures_total", "Clients that TLS kept out.",
        service.handshake_failures);
  text.family("fdbpack_agent_http_open_connections", Kind::gauge, "Connections now.");
  text.sample({}, service.open_connections);
  count("fdbpack_agent_mutations_total", "Calls that changed something.", api.mutations);
  count("fdbpack_agent_mutations_refused_total", "Calls that wanted to and might not.",
        api.refused_mutations);
  count("fdbpack_agent_page_renderings_total", "Pages that were made.", api.renderings);
}

// The binary's version is the folder it lies in, as fdb-kubernetes-monitor lays them out.
void write_launcher_names(MetricsText& text, Agent& agent) {
  const Supervisor& supervisor = agent.supervisor();
  each(text, supervisor, "fdbkubernetesmonitor_restart_count", Kind::counter,
       "Number of fdbserver process starts.",
       [](const Supervised& who) { return Number(who.state.starts); });
  text.family("fdbkubernetesmonitor_configuration_change_count", Kind::counter,
              "Number of configurations that were applied.");
  text.sample({}, agent.conf_changes());
  text.family("fdbkubernetesmonitor_last_applied_configuration_timestamp", Kind::gauge,
              "Time of the last applied configuration, since the epoch.");
  if (agent.conf_changed_at()) text.sample({}, seconds(*agent.conf_changed_at()));
  each(text, supervisor, "fdbkubernetesmonitor_start_timestamp", Kind::gauge,
       "Time of the last start, since the epoch.", [](const Supervised& who) {
         return who.state.starts > 0 ? std::optional<double>(seconds(who.started_wall))
                                     : std::nullopt;
       });
}

}  // namespace

std::string metrics_page(Agent& agent, const ServiceCounts& service, const ApiCounts& api,
                         bool has_launcher_names) {
  agent.host().ask_for_use();
  MetricsText text;
  write_agent(text, agent);
  write_processes(text, agent.supervisor());
  write_storage(text, agent.host());
  write_service(text, service, api);
  if (has_launcher_names) write_launcher_names(text, agent);
  return text.take();
}

}  // namespace fdbpack::agent
