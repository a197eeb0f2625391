// SPDX-License-Identifier: Apache-2.0
//
// fdbpack capacity: how many more groups of a set fit, and whether a loss could be placed again.
// fdbpack waves: which hosts can be maintained together.
// fdbpack affinity: what a pod template needs to be scheduled into its fault domain.
#pragma once

#include "cli/outcome.hpp"
#include "cli/screen.hpp"
#include "ports/file_reader.hpp"

#include <string>

namespace fdbpack::cli {

struct CapacityOptions {
  std::string fleet;    // a fleet snapshot, or
  std::string htools;   // a cluster in htools' text format: hspace's standard mode
  std::string cluster;  // empty: the only one
  std::string process_class = "storage";
  std::string set = "default";
  std::string label;  // empty: az, where hosts have it
  std::string lose;   // a label ("host", "rack") or label=value; empty: no loss is tried
  bool is_json = false;
  Screen screen;
};
[[nodiscard]] Outcome capacity(const CapacityOptions& options, ports::FileReader& files);

struct WavesOptions {
  std::string fleet;
  int hosts_max = 0;
  bool is_json = false;
  Screen screen;
};
[[nodiscard]] Outcome waves(const WavesOptions& options, ports::FileReader& files);

struct AffinityOptions {
  std::string fleet;
  std::string cluster;
  std::string group;
};
[[nodiscard]] Outcome affinity(const AffinityOptions& options, ports::FileReader& files);

}  // namespace fdbpack::cli
