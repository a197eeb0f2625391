// SPDX-License-Identifier: Apache-2.0
//
// fdb-kubernetes-monitor's behaviour around our own supervision.
//
//   config.json ──watch──► Agent ──ConfReader──► read() ──► processes ──► Supervisor
//                            │ on_change                        ▲
//                            ▼                                  │ isolated? labels?
//                        Metrics, annotations ──► PodLink ◄──► API server
//
// The Agent keeps the last good configuration, adopts, restarts and stops. What is added here:
// which fdbserver, the pod's wishes, metrics, and the delay of the end. A configuration whose
// binary is missing is tried again when the binary appears: a sidecar may still be copying it. What
// the pod and the node said last is kept in <state directory>/pod.json for a start without the API.
#pragma once

#include "agent/agent.hpp"
#include "agent/launcher/pod_link.hpp"
#include "fdbpack/launcher/configuration.hpp"
#include "fdbpack/launcher/environment.hpp"
#include "fdbpack/launcher/metrics.hpp"
#include "ports/file_copier.hpp"

#include <map>
#include <optional>
#include <string>

namespace fdbpack::agent {

struct LauncherSettings {
  AgentSettings agent;
  launcher::Rules rules;
  conf::Environment own_environment;
  conf::Environment additional_environment;
  std::optional<PodPlace> pod;  // none: there is no API server
};

class Launcher {
 public:
  // `api` is used only if `settings.pod` is there. `on_end` is called once, with the exit code.
  Launcher(World& world, ports::FileCopier& binaries, ports::ApiServer* api,
           LauncherSettings settings, std::function<void(int)> on_end);

  [[nodiscard]] Status start(Inheritance inheritance);
  void on_signal(int signal);
  void on_conf_change() { agent_.on_conf_change(); }
  void on_cluster_file_change();
  void on_line(ports::OutputId id, ports::Stream stream, std::string_view line) {
    agent_.on_line(id, stream, line);
  }
  void set_degraded(const std::string& what, std::vector<std::string> sentences) {
    agent_.set_degraded(what, std::move(sentences));
  }

  [[nodiscard]] std::string metrics() const { return metrics_.text(); }
  [[nodiscard]] Agent& agent() { return agent_; }
  // A configuration is in force.
  [[nodiscard]] bool is_ready() const { return active_.has_value(); }

 private:
  struct Reading {
    launcher::Configuration configuration;
    std::string text;
    std::string environment;  // JSON of the variables that it uses
    bool operator==(const Reading&) const = default;
  };

  [[nodiscard]] AgentSettings agent_settings();
  [[nodiscard]] conf::Environment environment() const;
  [[nodiscard]] ConfCandidate read(std::string text);
  [[nodiscard]] Result<Reading> interpret(const std::string& text, conf::MonitorConf& processes);
  void on_change();
  void activate();
  void count_starts();
  // Empty: it cannot be told.
  [[nodiscard]] std::string version_of(const supervise::Process& process, const Supervised& who);
  void on_pod(const launcher::Annotations& before);
  void restore_pod();
  void save_pod();
  void look_for_binary();
  void on_agent_end(int code);

  World& world_;
  ports::FileCopier& binaries_;
  LauncherSettings settings_;
  std::function<void(int)> on_end_;
  std::optional<PodLink> pod_;
  launcher::Metrics metrics_;
  std::optional<Reading> read_;    // the last that was good
  std::optional<Reading> active_;  // in force
  WallTime active_since_;
  std::string saved_pod_;
  std::string missing_binary_;  // of the file as it is now; empty: none is missing
  std::map<std::uint64_t, std::string> versions_;  // by revision of a command
  std::map<int, std::uint64_t> starts_seen_;
  std::unique_ptr<ports::Alarm> binary_alarm_;
  bool is_looking_for_binary_ = false;
  std::unique_ptr<ports::Alarm> end_alarm_;
  std::optional<Instant> stays_until_;
  bool has_agent_ended_ = false;
  int exit_code_ = 0;
  Agent agent_;
};

}  // namespace fdbpack::agent
