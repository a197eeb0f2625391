// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/place/plan.hpp"

#include "fdbpack/place/demand.hpp"
#include "fdbpack/place/fault_domains.hpp"
#include "fdbpack/place/ids.hpp"
#include "fdbpack/place/order.hpp"
#include "search.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fdbpack::place {
namespace {

std::size_t at(Index index) {
  return static_cast<std::size_t>(index);
}

class FleetPlanner {
 public:
  FleetPlanner(Planner& planner, const PlanOptions& options)
      : planner_(planner), inventory_(planner.state().inventory()), options_(options) {}

  Result<FleetPlan> run();

 private:
  void shrink_set(Index set);
  void drop_unknown(Index scope);
  void balance_scope(Index scope);
  void balance_exact(Index set);
  void replace(Index group, std::string why, int domain);
  void want_missing(Index scope);
  void sort_wants();
  void place_wants();
  [[nodiscard]] std::vector<DomainMember> members(Index scope, Index set) const;
  void remove(Index group, std::string why, std::vector<Removal>& list);
  [[nodiscard]] Index find(Index scope, const std::string& id) const;

  Planner& planner_;
  const Inventory& inventory_;
  const PlanOptions& options_;
  std::vector<Want> wants_;
  FleetPlan plan_;
};

Result<FleetPlan> FleetPlanner::run() {
  plan_.violations = violations(inventory_);
  plan_.before = measure(planner_.state());
  const Index only = options_.cluster.empty() ? kNone : inventory_.find_cluster(options_.cluster);
  if (!options_.cluster.empty() && only == kNone) {
    return fail(ErrorCode::not_found, "there is no cluster " + options_.cluster);
  }
  std::vector<Index> scopes;
  for (std::size_t s = 0; s < inventory_.scopes().size(); ++s) {
    if (only == kNone || inventory_.scopes()[s].cluster == only)
      scopes.push_back(static_cast<Index>(s));
  }
  for (const Index scope : scopes)
    FDBPACK_TRY_VOID(check_demand(inventory_, scope));
  for (const Index scope : scopes) {
    drop_unknown(scope);
    for (std::size_t s = 0; s < inventory_.sets().size(); ++s) {
      if (inventory_.sets()[s].scope == scope) shrink_set(static_cast<Index>(s));
    }
    balance_scope(scope);
    for (std::size_t s = 0; s < inventory_.sets().size(); ++s) {
      if (inventory_.sets()[s].scope == scope) balance_exact(static_cast<Index>(s));
    }
    want_missing(scope);
  }
  sort_wants();
  place_wants();
  plan_.after = measure(planner_.state());
  return std::move(plan_);
}

std::vector<DomainMember> FleetPlanner::members(Index scope, Index set) const {
  std::vector<DomainMember> out;
  for (const PlacedGroup& group : planner_.state().groups()) {
    if (group.scope != scope || !group.is_present || group.is_removing) continue;
    if (set != kNone && group.set != set) continue;
    const Host& host = inventory_.hosts()[at(group.host)];
    const Index physical = planner_.state().physical_of(scope, group.host);
    const bool is_shared =
        physical != kNone &&
        planner_.state().scopes()[at(scope)].on_physical[at(physical)].size() > 1;
    out.push_back({group.id, group.domain, host.is_draining || host.is_unreachable || is_shared});
  }
  return out;
}

Index FleetPlanner::find(Index scope, const std::string& id) const {
  const std::string& cluster =
      inventory_.clusters()[at(inventory_.scopes()[at(scope)].cluster)].name;
  return inventory_.find_group(cluster, id);
}

void FleetPlanner::remove(Index group, std::string why, std::vector<Removal>& list) {
  planner_.mark_removing(group);
  const Group& facts = inventory_.groups()[at(group)];
  list.push_back({facts.cluster, facts.id, std::move(why)});
}

// Groups of a class or set that the spec no longer has.
void FleetPlanner::drop_unknown(Index scope) {
  for (std::size_t g = 0; g < inventory_.groups().size(); ++g) {
    const PlacedGroup& group = planner_.state().groups()[g];
    if (group.scope != scope || group.set != kNone || group.is_removing) continue;
    remove(static_cast<Index>(g),
           fmt::format("the spec has no {} set {}", inventory_.scopes()[at(scope)].class_name,
                       inventory_.groups()[g].set),
           plan_.removed);
  }
}

void FleetPlanner::shrink_set(Index set) {
  const SetRef& ref = inventory_.sets()[at(set)];
  const int have = planner_.state().sets()[at(set)].groups;
  if (have <= ref.demand->count) return;
  const int domains = inventory_.scopes()[at(ref.scope)].domains;
  for (const std::string& id : shrink(members(ref.scope, set), have - ref.demand->count, domains)) {
    remove(
        find(ref.scope, id),
        fmt::format("set {} has {} groups and wants {}", ref.demand->name, have, ref.demand->count),
        plan_.removed);
  }
}

void FleetPlanner::balance_scope(Index scope) {
  const Scope& demand = inventory_.scopes()[at(scope)];
  if (demand.domains == 0) return;
  const DomainBounds bounds = domain_bounds(demand.desired_groups, demand.domains);
  const std::vector<int> counts = planner_.state().scopes()[at(scope)].counts;
  const DomainChange change =
      balance_domains(members(scope, kNone), demand.desired_groups, demand.domains);
  for (const std::string& id : change.replace) {
    const Index group = find(scope, id);
    const int domain = planner_.state().groups()[at(group)].domain;
    const std::string zone = planner_.state().domain_text(scope, domain);
    replace(group,
            domain < demand.domains
                ? fmt::format("{} has {} groups, at most {}", zone, counts[at(domain)], bounds.max)
                : fmt::format("{} is not one of {} fault domains", zone, demand.domains),
            kNone);
  }
  for (const DomainShift& shift : change.shift) {
    const Index group = find(scope, shift.id);
    Want want;
    want.set = planner_.state().groups()[at(group)].set;
    want.domain = shift.to;
    want.relaxed = options_.relaxed;
    // Nobody is gained by giving up a group whose replacement has no good host.
    const std::optional<Decision> decision = planner_.decide(want);
    if (!decision || decision->violations > 0) continue;
    replace(group,
            fmt::format("{} has less than {} groups", planner_.state().domain_text(scope, shift.to),
                        bounds.min),
            shift.to);
  }
}

// Groups beyond the exact count of their AZ, or where the set wants none: the youngest are replaced
// elsewhere.
void FleetPlanner::balance_exact(Index set) {
  const SetRef& ref = inventory_.sets()[at(set)];
  if (!ref.demand->exact) return;
  for (std::size_t g = inventory_.groups().size(); g-- > 0;) {
    const PlacedGroup& group = planner_.state().groups()[g];
    if (group.set != set || group.is_removing) continue;
    const SetState& now = planner_.state().sets()[at(set)];
    const Index value = now.exact_value[at(group.host)];
    if (value != kNone && now.exact_count[at(value)] <= now.exact_target[at(value)]) continue;
    replace(static_cast<Index>(g),
            value == kNone ? fmt::format("set {} wants no groups on {}", ref.demand->name,
                                         inventory_.hosts()[at(group.host)].id)
                           : fmt::format("{} groups in {}={}, wants {}", now.exact_count[at(value)],
                                         ref.demand->exact->label, now.exact_values[at(value)],
                                         now.exact_target[at(value)]),
            kNone);
  }
}

void FleetPlanner::replace(Index group, std::string why, int domain) {
  Want want;
  want.set = planner_.state().groups()[at(group)].set;
  want.replaces = group;
  want.domain = domain;
  wants_.push_back(std::move(want));
  remove(group, std::move(why), plan_.replaced);
}

void FleetPlanner::want_missing(Index scope) {
  IdSource ids(planner_.state(), scope);
  for (Want& want : wants_) {
    if (inventory_.sets()[at(want.set)].scope == scope) want.id = ids.next();
  }
  for (std::size_t s = 0; s < inventory_.sets().size(); ++s) {
    if (inventory_.sets()[s].scope != scope) continue;
    // Replacements of this set were counted out when the old groups were marked.
    const auto replacements = std::count_if(wants_.begin(), wants_.end(), [&](const Want& want) {
      return want.set == static_cast<Index>(s) && want.replaces != kNone;
    });
    const int missing = inventory_.sets()[s].demand->count - planner_.state().sets()[s].groups;
    for (int i = static_cast<int>(replacements); i < missing; ++i) {
      Want want;
      want.set = static_cast<Index>(s);
      want.id = ids.next();
      wants_.push_back(std::move(want));
    }
  }
  for (Want& want : wants_)
    want.relaxed = options_.relaxed;
}

// The pickiest first: fewest hosts with the set's labels, then the largest disks.
void FleetPlanner::sort_wants() {
  const std::size_t sets = inventory_.sets().size();
  std::vector<std::ptrdiff_t> hosts(sets);
  std::vector<std::int64_t> disk(sets);
  for (std::size_t s = 0; s < sets; ++s) {
    const std::vector<bool>& eligible = planner_.state().sets()[s].is_eligible;
    hosts[s] = std::count(eligible.begin(), eligible.end(), true);
    for (const DiskWish& wish : inventory_.sets()[s].demand->shape.disks)
      disk[s] += wish.size_mib;
  }
  std::stable_sort(wants_.begin(), wants_.end(), [&](const Want& a, const Want& b) {
    const std::size_t x = at(a.set);
    const std::size_t y = at(b.set);
    return std::tuple(hosts[x], -disk[x], x) < std::tuple(hosts[y], -disk[y], y);
  });
}

void FleetPlanner::place_wants() {
  const Choice choice = choose(planner_, wants_, options_.search_budget);
  for (std::size_t i = 0; i < wants_.size(); ++i) {
    carry_out(planner_, wants_[i], choice.decisions[i], options_.has_explanations, plan_.placed,
              plan_.unplaced);
  }
}

}  // namespace

Result<FleetPlan> plan(Planner& planner, const PlanOptions& options) {
  return FleetPlanner(planner, options).run();
}

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
  const auto is_gone = [&](const Group& group) {
    const auto is_same = [&](const Removal& r) {
      return r.cluster == group.cluster && r.id == group.id;
    };
    return std::any_of(plan.replaced.begin(), plan.replaced.end(), is_same) ||
           std::any_of(plan.removed.begin(), plan.removed.end(), is_same);
  };
  for (const Group& group : fleet.groups) {
    if (!is_gone(group)) continue;
    // What the group wrote is free again.
    const auto host = std::find_if(out.hosts.begin(), out.hosts.end(),
                                   [&](const Host& h) { return h.id == group.host; });
    if (host == out.hosts.end()) continue;
    for (const PlacedDisk& disk : group.disks) {
      for (Unit& unit : host->units) {
        if (unit.kind == disk.unit)
          unit.free_mib = std::min(unit.total_mib, unit.free_mib + disk.used_mib);
      }
    }
  }
  std::erase_if(out.groups, is_gone);
  for (const NewGroup& group : plan.placed)
    out.groups.push_back(group.group);
  return out;
}

}  // namespace fdbpack::place
