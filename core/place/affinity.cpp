// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/place/affinity.hpp"

namespace fdbpack::place {

Result<PodPlacement> pod_placement(const Inventory& inventory, const std::string& cluster,
                                   const std::string& group) {
  Index found = kNone;
  for (const ClusterDemand& one : inventory.clusters()) {
    if (!cluster.empty() && one.name != cluster) continue;
    const Index here = inventory.find_group(one.name, group);
    if (here == kNone) continue;
    if (found != kNone) {
      return fail(ErrorCode::invalid_argument,
                  "several clusters have a process group " + group + "; name one");
    }
    found = here;
  }
  if (found == kNone) return fail(ErrorCode::not_found, "there is no process group " + group);
  const Group& facts = inventory.groups()[Inventory::to_size(found)];
  const Scope& scope = inventory.scopes()[Inventory::to_size(inventory.scope_of(found))];
  const PhysicalView& view = inventory.physical()[Inventory::to_size(scope.physical)];
  PodPlacement out;
  out.cluster = facts.cluster;
  out.process_class = facts.process_class;
  out.topology_key = view.label == "host" ? "kubernetes.io/hostname" : view.label;
  out.has_domains = scope.domains > 0;
  out.is_required = scope.is_required;
  const Index physical = view.domain_of[Inventory::to_size(inventory.host_of(found))];
  const bool has_zone = out.has_domains && !facts.fault_domain.empty();
  out.zone = has_zone ? facts.fault_domain
                      : (physical == kNone ? facts.host : view.names[Inventory::to_size(physical)]);
  return out;
}

}  // namespace fdbpack::place
