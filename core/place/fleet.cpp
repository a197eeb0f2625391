// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/place/fleet.hpp"

#include "fdbpack/base/text.hpp"

#include <algorithm>

namespace fdbpack::place {

std::string to_string(const UnitKind& kind) {
  std::string out = kind.type;
  if (!kind.key.empty()) out += ":" + kind.key;
  if (!kind.params.empty()) out += "[" + text::join(kind.params, ",") + "]";
  return out;
}

bool matches(const UnitKind& wish, const UnitKind& unit) {
  if (wish.type != unit.type) return false;
  if (wish.key.empty()) return wish.params.empty() || wish.params == unit.params;
  return wish.key == unit.key && wish.params == unit.params;
}

std::string label_of(const Host& host, const std::string& label) {
  if (label == "host") return host.id;
  const auto found = host.labels.find(label);
  return found == host.labels.end() ? "" : found->second;
}

std::int64_t data_mib(const Group& group) {
  std::int64_t sum = 0;
  for (const PlacedDisk& disk : group.disks)
    sum += disk.used_mib;
  return sum;
}

int fault_domains_needed(const std::string& redundancy_mode) {
  if (redundancy_mode == "single") return 1;
  if (redundancy_mode == "double") return 2;
  // three_data_hall keeps three copies in three halls, three_datacenter(_fallback) at least in
  // three places.
  static constexpr const char* kThree[] = {"triple", "three_data_hall", "three_data_hall_fallback",
                                           "three_datacenter", "three_datacenter_fallback"};
  const bool is_three = std::any_of(std::begin(kThree), std::end(kThree),
                                    [&](const char* name) { return redundancy_mode == name; });
  return is_three ? 3 : 0;
}

bool is_durable(const std::string& process_class) {
  return process_class == "storage" || process_class == "log" || process_class == "transaction";
}

int desired_domains(const ClusterDemand& cluster) {
  if (!cluster.distribution.is_enabled) return 0;
  if (cluster.distribution.desired_domains > 0) return cluster.distribution.desired_domains;
  return std::max(1, fault_domains_needed(cluster.redundancy_mode));
}

}  // namespace fdbpack::place
