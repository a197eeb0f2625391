// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/place/from_spec.hpp"

namespace fdbpack::place {
namespace {

SetDemand set_of(const model::ProcessSet& set) {
  SetDemand out;
  out.name = set.name;
  out.count = static_cast<int>(set.count);
  out.hosts = set.hosts;
  out.shape.servers = static_cast<int>(set.servers_per_disk);
  out.shape.cpu_milli = set.resources.cpu_milli.value_or(0);
  out.shape.memory_mib = static_cast<std::int64_t>(set.resources.memory_mib.value_or(0));
  if (set.disk_mib) {
    const UnitKind any{"file", "", {}};
    out.shape.disks.push_back(
        {set.storage_unit.value_or(any), static_cast<std::int64_t>(*set.disk_mib)});
  }
  return out;
}

}  // namespace

ClusterDemand demand_of(const model::ClusterSpec& spec) {
  ClusterDemand out;
  out.name = spec.name;
  out.redundancy_mode = to_string(spec.database.redundancy_mode);
  out.distribution.is_enabled = spec.distribution.enabled;
  out.distribution.desired_domains =
      static_cast<int>(spec.distribution.desired_fault_domains.value_or(0));
  out.distribution.is_required = spec.distribution.required;
  out.distribution.physical_domain = spec.distribution.physical_domain;
  for (const auto& [process_class, sets] : spec.processes) {
    ClassDemand demand;
    demand.process_class = to_string(process_class);
    for (const model::ProcessSet& set : sets)
      demand.sets.push_back(set_of(set));
    out.classes.push_back(std::move(demand));
  }
  return out;
}

}  // namespace fdbpack::place
