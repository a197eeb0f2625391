// SPDX-License-Identifier: Apache-2.0
//
// What fdb-kubernetes-monitor counts, under its names, in Prometheus' text format. A series appears
// with its first event; the two about configurations are always there.
//
//   fdbkubernetesmonitor_restart_count{process}                 starts, the first included
//   fdbkubernetesmonitor_start_timestamp{process}               of the last start, unix seconds
//   fdbkubernetesmonitor_configuration_change_count
//   fdbkubernetesmonitor_last_applied_configuration_timestamp
//   fdbkubernetesmonitor_running_version{version}               1 when a process runs it, else 0
//   fdbkubernetesmonitor_desired_version{version}               1 for the configuration in force
//
// While an upgrade goes on, processes of two versions run; both are 1 then.
#pragma once

#include "fdbpack/base/instant.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace fdbpack::launcher {

class Metrics {
 public:
  void configuration_applied(std::string_view version, WallTime at);
  // `starts`: how often since the last call.
  void process_started(int number, WallTime at, std::uint64_t starts = 1);
  // The versions of the processes that live now, and no others.
  void set_running(const std::set<std::string>& versions);

  [[nodiscard]] std::string text() const;

 private:
  struct Process {
    std::uint64_t starts = 0;
    WallTime started_at;
  };

  std::map<int, Process> processes_;
  std::map<std::string, bool, std::less<>> running_;
  std::map<std::string, bool, std::less<>> desired_;
  std::uint64_t configurations_ = 0;
  std::optional<WallTime> applied_at_;
};

}  // namespace fdbpack::launcher
