// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/launcher/metrics.hpp"

#include <fmt/format.h>

namespace fdbpack::launcher {
namespace {

std::string seconds(WallTime at) {
  const auto count = at.time_since_epoch().count();
  return fmt::format("{}.{:03}", count / 1000, count % 1000);
}

std::string family(std::string_view name, std::string_view type, std::string_view help) {
  return fmt::format("# HELP fdbkubernetesmonitor_{0} {1}\n# TYPE fdbkubernetesmonitor_{0} {2}\n",
                     name, help, type);
}

std::string escaped(std::string_view value) {
  std::string result;
  for (const char c : value) {
    if (c == '\\' || c == '"') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result;
}

std::string sample(std::string_view name, std::string_view label, std::string_view labelled,
                   std::string_view value) {
  return fmt::format("fdbkubernetesmonitor_{}{{{}=\"{}\"}} {}\n", name, label, escaped(labelled),
                     value);
}

std::string versions(std::string_view name, std::string_view help,
                     const std::map<std::string, bool, std::less<>>& values) {
  if (values.empty()) return "";
  std::string text = family(name, "gauge", help);
  for (const auto& [version, holds] : values)
    text += sample(name, "version", version, holds ? "1" : "0");
  return text;
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
  std::string text =
      family("configuration_change_count", "counter", "Configurations that were put in force.");
  text += fmt::format("fdbkubernetesmonitor_configuration_change_count {}\n", configurations_);
  if (!processes_.empty()) {
    text += family("restart_count", "counter", "Starts of a process, the first one included.");
    for (const auto& [number, process] : processes_) {
      text += sample("restart_count", "process", std::to_string(number),
                     std::to_string(process.starts));
    }
    text += family("start_timestamp", "gauge", "When a process was last started, unix seconds.");
    for (const auto& [number, process] : processes_) {
      text +=
          sample("start_timestamp", "process", std::to_string(number), seconds(process.started_at));
    }
  }
  text += family("last_applied_configuration_timestamp", "gauge",
                 "When a configuration was last put in force, unix seconds.");
  text += fmt::format("fdbkubernetesmonitor_last_applied_configuration_timestamp {}\n",
                      applied_at_ ? seconds(*applied_at_) : "0");
  text += versions("running_version", "Whether a process runs this version.", running_);
  text += versions("desired_version", "Whether the configuration asks for this version.", desired_);
  return text;
}

}  // namespace fdbpack::launcher
