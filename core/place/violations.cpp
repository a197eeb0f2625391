// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with a fleet as it stands. None of it is an error: hosts lose disks and capacity.
#include "fdbpack/place/constraint.hpp"
#include "fdbpack/place/fault_domains.hpp"
#include "fdbpack/place/inventory.hpp"
#include "fdbpack/place/state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

namespace fdbpack::place {
namespace {

std::size_t at(Index index) {
  return static_cast<std::size_t>(index);
}

void add(std::vector<Violation>& out, Constraint rule, std::string subject, std::string message) {
  out.push_back({std::string(to_string(rule)), std::move(subject), std::move(message)});
}

void check_host(const PlacementState& state, Index h, std::vector<Violation>& out) {
  const Host& facts = state.inventory().hosts()[at(h)];
  const HostState& now = state.hosts()[at(h)];
  if (now.cpu_free < 0) {
    add(out, Constraint::cpu, facts.id,
        fmt::format("its groups take {} millicores of {}", facts.cpu_milli - now.cpu_free,
                    facts.cpu_milli));
  }
  if (now.memory_free < 0) {
    add(out, Constraint::memory, facts.id,
        fmt::format("its groups take {} MiB of memory of {} MiB",
                    facts.memory_mib - now.memory_free, facts.memory_mib));
  }
  for (Index u = now.unit_begin; u < now.unit_end; ++u) {
    const UnitState& unit = state.units()[at(u)];
    if (unit.room_mib >= 0) continue;
    add(out, Constraint::storage_room, facts.id,
        fmt::format("{} is short of {} MiB for the disks promised on it",
                    to_string(state.kinds()[at(unit.kind)]), -unit.room_mib));
  }
  for (std::size_t i = 1; i < now.slots.size(); ++i) {
    if (now.slots[i].begin >= now.slots[i - 1].end) continue;
    add(out, Constraint::port_slot, facts.id,
        fmt::format("port slot {} is taken twice", now.slots[i].begin));
  }
  for (const SlotRange& range : now.slots) {
    if (range.end <= facts.port_slots) continue;
    add(out, Constraint::port_slot, facts.id,
        fmt::format("port slot {} is in use and the host has {}", range.end - 1, facts.port_slots));
  }
}

void check_group(const PlacementState& state, std::size_t g, std::vector<Violation>& out) {
  const Group& facts = state.inventory().groups()[g];
  const PlacedGroup& placed = state.groups()[g];
  const std::string subject = facts.cluster + "/" + facts.id;
  for (std::size_t d = 0; d < facts.disks.size(); ++d) {
    if (placed.disks[d].unit != kNone) continue;
    add(out, Constraint::storage_unit, subject,
        fmt::format("host {} has no storage unit {} any more", facts.host,
                    to_string(facts.disks[d].unit)));
  }
  // Reported before anything is removed: it may be a slip of the pen.
  if (placed.set == kNone && !placed.is_removing) {
    out.push_back({"known_set", subject,
                   fmt::format("the spec of {} has no {} set {}; place removes the group",
                               facts.cluster, facts.process_class, facts.set)});
  }
  if (placed.set != kNone && !placed.is_removing &&
      !state.sets()[at(placed.set)].is_eligible[at(placed.host)]) {
    add(out, Constraint::set_hosts, subject,
        fmt::format("host {} does not have the labels of set {}", facts.host, facts.set));
  }
}

void check_scope(const PlacementState& state, Index s, std::vector<Violation>& out) {
  const Scope& scope = state.inventory().scopes()[at(s)];
  if (scope.domains == 0) return;
  const PhysicalView& view = state.inventory().physical()[at(scope.physical)];
  const std::string& cluster = state.inventory().clusters()[at(scope.cluster)].name;
  for (std::size_t p = 0; p < view.names.size(); ++p) {
    const std::vector<DomainCount>& here = state.scopes()[at(s)].on_physical[p];
    if (here.size() < 2) continue;
    std::vector<int> domains;
    for (const DomainCount& entry : here)
      domains.push_back(entry.domain);
    std::sort(domains.begin(), domains.end());
    std::vector<std::string> names;
    for (const int domain : domains)
      names.push_back(state.domain_text(s, domain));
    add(out, Constraint::fault_domain_separation, view.names[p],
        fmt::format("carries {} of cluster {}", fmt::join(names, " and "), cluster));
  }
}

void check_exact(const PlacementState& state, Index s, std::vector<Violation>& out) {
  const SetState& set = state.sets()[at(s)];
  const SetRef& ref = state.inventory().sets()[at(s)];
  const Scope& scope = state.inventory().scopes()[at(ref.scope)];
  for (std::size_t v = 0; v < set.exact_values.size(); ++v) {
    if (set.exact_count[v] <= set.exact_target[v]) continue;
    add(out, Constraint::exact_count,
        fmt::format("{}/{}/{}", state.inventory().clusters()[at(scope.cluster)].name,
                    scope.class_name, ref.demand->name),
        fmt::format("{} groups in {}={}, wants {}", set.exact_count[v], ref.demand->exact->label,
                    set.exact_values[v], set.exact_target[v]));
  }
}

}  // namespace

std::optional<Violation> redundancy_violation(const PlacementState& state, Index scope) {
  const Scope& demand = state.inventory().scopes()[at(scope)];
  const ClusterDemand& cluster = state.inventory().clusters()[at(demand.cluster)];
  if (demand.domains > 0 || demand.desired_groups == 0 || !is_durable(demand.class_name)) return {};
  std::set<int> zones;
  for (const PlacedGroup& group : state.groups()) {
    if (group.scope == scope && group.is_present && !group.is_removing) zones.insert(group.domain);
  }
  const int needed = fault_domains_needed(cluster.redundancy_mode);
  const int have = static_cast<int>(zones.size());
  if (have >= needed) return {};
  const std::string& label = state.inventory().physical()[at(demand.physical)].label;
  return Violation{
      "redundancy", cluster.name + "/" + demand.class_name,
      fmt::format("its groups are in {} physical domains ({}), redundancy mode {} "
                  "needs {}; add hosts that can take them, or run balance if there are "
                  "some",
                  have, label, cluster.redundancy_mode, needed)};
}

std::vector<Violation> balance_violations(const PlacementState& state, Index scope) {
  std::vector<Violation> out;
  const Scope& demand = state.inventory().scopes()[at(scope)];
  if (demand.domains == 0) return out;
  const ScopeState& now = state.scopes()[at(scope)];
  const DomainBounds bounds = domain_bounds(demand.desired_groups, demand.domains);
  for (std::size_t k = 0; k < now.counts.size(); ++k) {
    const int count = now.counts[k];
    // While groups are missing, a domain that lacks some is about to get them.
    const bool is_short = count < bounds.min && now.groups >= demand.desired_groups;
    if (!is_short && count <= bounds.max) continue;
    out.push_back({"fault_domain_balance",
                   state.inventory().clusters()[at(demand.cluster)].name + "/" +
                       state.domain_text(scope, static_cast<int>(k)),
                   fmt::format("has {} groups, {} {}", count, is_short ? "at least" : "at most",
                               is_short ? bounds.min : bounds.max)});
  }
  return out;
}

std::vector<Violation> violations(const Inventory& inventory) {
  const PlacementState state(inventory);
  std::vector<Violation> out;
  for (std::size_t h = 0; h < state.hosts().size(); ++h)
    check_host(state, static_cast<Index>(h), out);
  for (std::size_t s = 0; s < state.scopes().size(); ++s)
    check_scope(state, static_cast<Index>(s), out);
  for (std::size_t s = 0; s < state.scopes().size(); ++s) {
    for (Violation& violation : balance_violations(state, static_cast<Index>(s)))
      out.push_back(std::move(violation));
  }
  for (std::size_t s = 0; s < state.sets().size(); ++s)
    check_exact(state, static_cast<Index>(s), out);
  for (std::size_t g = 0; g < inventory.groups().size(); ++g)
    check_group(state, g, out);
  return out;
}

}  // namespace fdbpack::place
