// SPDX-License-Identifier: Apache-2.0
//
// What fdb-kubernetes-monitor makes of its configuration: which fdbserver, how many, with which
// arguments.
//
//   config.json ──wire/unified_json──► conf::UnifiedConf ──interpret──► Configuration
//                                                          │
//   version runs in one cluster with the container's  ──►  --fdbserver-path
//   any other                                         ──►  <shared-binary-dir>/<version>/fdbserver
//
// Processes are named fdbserver.1, fdbserver.2, …; a new command line waits for the next start of a
// process, and one that is not wanted any more is stopped.
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/conf/environment.hpp"
#include "fdbpack/conf/monitor_conf.hpp"
#include "fdbpack/conf/unified.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace fdbpack::launcher {

// What the command line says about it.
struct Rules {
  std::string container_version;
  std::string fdbserver_path = "/usr/bin/fdbserver";
  std::string shared_binary_dir = "/var/fdb/shared-binaries/bin";
  int process_count = 1;
};

struct Configuration {
  conf::UnifiedConf conf;  // run_servers is false when the process group is isolated
  std::string version;     // as it is written in paths and metrics
  std::string binary_path;

  [[nodiscard]] bool runs_servers() const { return conf.run_servers.value_or(true); }
  bool operator==(const Configuration&) const = default;
};

// The file has been read; whether the binary is there is the caller's to find out.
[[nodiscard]] Result<Configuration> interpret(conf::UnifiedConf conf, const Rules& rules,
                                              bool is_isolated);

// The version that a binary is of by where it lies; empty: it is none of those that we start.
[[nodiscard]] std::string version_of_binary(std::string_view path, const Rules& rules);

// What is to run, as the supervisor takes it. Arguments that cannot be made are an error.
[[nodiscard]] Result<conf::MonitorConf> processes_of(const Configuration& configuration,
                                                     const Rules& rules,
                                                     const conf::Environment& environment);

[[nodiscard]] std::string section_of(int number);
// "fdbserver.3" is 3; none for any other name.
[[nodiscard]] std::optional<int> number_of(std::string_view section);

// Squares of the number of failures, in seconds: 0, 1, 4, 9, … 60, from the beginning again after
// five minutes.
[[nodiscard]] model::RestartPolicy restart_policy();

}  // namespace fdbpack::launcher
