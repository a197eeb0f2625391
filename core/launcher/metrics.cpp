// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/launcher/metrics.hpp"

#include "fdbpack/metrics/metrics_text.hpp"

namespace fdbpack::launcher {
namespace {

using metrics::Kind;

double seconds(WallTime at) {
  return std::chrono::duration<double>(at.time_since_epoch()).count();
}

}  // namespace

void Metrics::configuration_applied(std::string_view version, WallTime at) {
  ++configurations_;
  applied_at_ = at;
  for (auto& [name, holds] : desired_)
    holds = false;
  desired_.insert_or_assign(std::string(version), true);
}

void Metrics::process_started(int number, WallTime at, std::uint64_t starts) {
  Process& process = processes_[number];
  process.starts += starts;
  process.started_at = at;
}

void Metrics::set_running(const std::set<std::string>& versions) {
  for (auto& [name, holds] : running_)
    holds = versions.contains(name);
  for (const std::string& version : versions)
    running_.insert_or_assign(version, true);
}

std::string Metrics::text() const {
  metrics::MetricsText text;
  const auto family = [&text](std::string_view name, Kind kind, std::string_view help) {
    text.family("fdbkubernetesmonitor_" + std::string(name), kind, help);
  };
  const auto versions = [&text](const std::map<std::string, bool, std::less<>>& values) {
    for (const auto& [version, holds] : values)
      text.sample({{"version", version}}, std::uint64_t{holds});
  };
  family("configuration_change_count", Kind::counter, "Configurations that were put in force.");
  text.sample({}, configurations_);
  family("restart_count", Kind::counter, "Starts of a process, the first one included.");
  for (const auto& [number, process] : processes_)
    text.sample({{"process", std::to_string(number)}}, process.starts);
  family("start_timestamp", Kind::gauge, "When a process was last started, unix seconds.");
  for (const auto& [number, process] : processes_)
    text.sample({{"process", std::to_string(number)}}, seconds(process.started_at));
  family("last_applied_configuration_timestamp", Kind::gauge,
         "When a configuration was last put in force, unix seconds.");
  text.sample({}, applied_at_ ? seconds(*applied_at_) : 0.0);
  family("running_version", Kind::gauge, "Whether a process runs this version.");
  versions(running_);
  family("desired_version", Kind::gauge, "Whether the configuration asks for this version.");
  versions(desired_);
  return text.take();
}

}  // namespace fdbpack::launcher
