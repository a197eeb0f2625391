// SPDX-License-Identifier: Apache-2.0
//
// A plan as the fleet will have it.
#include "fdbpack/place/plan.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace fdbpack::place {
namespace {

std::size_t at(Index index) {
  return static_cast<std::size_t>(index);
}

}  // namespace

Group to_group(const PlacementState& state, const Decision& decision) {
  const SetRef& ref = state.inventory().sets()[at(decision.want.set)];
  const Scope& scope = state.inventory().scopes()[at(ref.scope)];
  const Shape& shape = ref.demand->shape;
  Group group;
  group.id = decision.want.id;
  group.cluster = state.inventory().clusters()[at(scope.cluster)].name;
  group.process_class = scope.class_name;
  group.set = ref.demand->name;
  group.host = state.inventory().hosts()[at(decision.host)].id;
  if (decision.domain != kNone) group.fault_domain = state.domain_text(ref.scope, decision.domain);
  group.cpu_milli = shape.cpu_milli;
  group.memory_mib = shape.memory_mib;
  group.servers = shape.servers;
  group.port_slot = decision.slot;
  for (const DiskAt& disk : decision.disks) {
    group.disks.push_back({state.kinds()[at(state.units()[at(disk.unit)].kind)], disk.size_mib, 0});
  }
  group.is_reserved = true;
  return group;
}

Fleet apply(const Fleet& fleet, const FleetPlan& plan) {
  Fleet out = fleet;
  std::set<std::pair<std::string, std::string>> gone;
  for (const std::vector<Removal>* list : {&plan.replaced, &plan.removed}) {
    for (const Removal& removal : *list)
      gone.emplace(removal.cluster, removal.id);
  }
  const auto is_gone = [&](const Group& group) { return gone.contains({group.cluster, group.id}); };
  std::map<std::string, Host*> hosts;
  for (Host& host : out.hosts)
    hosts.emplace(host.id, &host);
  for (const Group& group : fleet.groups) {
    const auto host = hosts.find(group.host);
    if (!is_gone(group) || host == hosts.end()) continue;
    // What the group wrote is free again.
    for (const PlacedDisk& disk : group.disks) {
      for (Unit& unit : host->second->units) {
        if (unit.kind == disk.unit)
          unit.free_mib = std::min(unit.total_mib, unit.free_mib + disk.used_mib);
      }
    }
  }
  for (const NewGroup& group : plan.placed)
    out.groups.push_back(group.group);
  std::erase_if(out.groups, is_gone);
  return out;
}

}  // namespace fdbpack::place
