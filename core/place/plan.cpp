// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/place/plan.hpp"

#include "fdbpack/place/demand.hpp"
#include "fdbpack/place/fault_domains.hpp"
#include "fdbpack/place/ids.hpp"
#include "fdbpack/place/order.hpp"
#include "search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace fdbpack::place {
namespace {

std::size_t at(Index index) {
  return static_cast<std::size_t>(index);
}

// A plan settles in one or two steps; the bound only keeps a defect from running for ever.
constexpr int kStepsMax = 16;

class FleetPlanner {
 public:
  FleetPlanner(Planner& planner, const PlanOptions& options)
      : planner_(planner), inventory_(planner.state().inventory()), options_(options) {}

  Result<FleetPlan> run();

 private:
  enum class Cause { surplus, domain, exact };
  struct Leaving {
    Index group = kNone;
    Cause cause = Cause::surplus;  // surplus: removed; the others are replaced
    Removal removal;
  };
  using Keys = std::set<std::pair<Index, Index>>;

  void want(const std::vector<Index>& scopes);
  void shrink_set(Index set);
  void drop_unknown(Index scope);
  void balance_scope(Index scope);
  void balance_exact(Index set);
  void replace(Index group, Cause cause, std::string why, int domain, int leaves = kNone);
  void want_missing(Index scope);
  [[nodiscard]] bool place(const std::vector<Index>& scopes, int step);
  void place_wants(int step);
  [[nodiscard]] bool keep_stuck(std::vector<Unplaced>& stuck);
  void settle();
  [[nodiscard]] bool leave_out(Index group);
  [[nodiscard]] std::vector<DomainMember> members(Index scope, Index set) const;
  void remove(Index group, std::string why, Cause cause);
  [[nodiscard]] Index find(Index scope, const std::string& id) const;

  Planner& planner_;
  const Inventory& inventory_;
  const PlanOptions& options_;
  // Of the step that is being decided.
  std::vector<Want> wants_;
  std::vector<Leaving> leaving_;
  // Groups of a set that are alike, one of whose replacements has no host: they stay.
  Keys kept_domains_;  // (set, domain)
  Keys kept_values_;   // (set, value of the exact label)
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
  for (int step = 1; step <= kStepsMax; ++step) {
    if (!place(scopes, step)) break;
    settle();
  }
  for (const Index scope : scopes) {
    if (auto lack = redundancy_violation(planner_.state(), scope))
      plan_.unmet.push_back(*std::move(lack));
    for (Violation& lack : balance_violations(planner_.state(), scope))
      plan_.unmet.push_back(std::move(lack));
  }
  // What the plan does not mend is listed once, as unmet.
  std::erase_if(plan_.violations, [&](const Violation& violation) {
    return std::find(plan_.unmet.begin(), plan_.unmet.end(), violation) != plan_.unmet.end();
  });
  plan_.after = measure(planner_.state());
  return std::move(plan_);
}

// What is to be done on the fleet as it is by now.
void FleetPlanner::want(const std::vector<Index>& scopes) {
  wants_.clear();
  leaving_.clear();
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
    const bool is_in_trouble = host.is_draining || host.is_unreachable || is_shared;
    out.push_back({group.id, group.domain, is_in_trouble, false, group.data_mib});
  }
  return out;
}

Index FleetPlanner::find(Index scope, const std::string& id) const {
  const std::string& cluster =
      inventory_.clusters()[at(inventory_.scopes()[at(scope)].cluster)].name;
  if (const Index known = inventory_.find_group(cluster, id); known != kNone) return known;
  const std::vector<PlacedGroup>& all = planner_.state().groups();
  std::size_t g = inventory_.groups().size();
  while (all[g].scope != scope || all[g].id != id)
    ++g;
  return static_cast<Index>(g);
}

void FleetPlanner::remove(Index group, std::string why, Cause cause) {
  planner_.mark_removing(group);
  const PlacedGroup& placed = planner_.state().groups()[at(group)];
  const Index cluster = inventory_.scopes()[at(placed.scope)].cluster;
  leaving_.push_back(
      {group, cause, {inventory_.clusters()[at(cluster)].name, placed.id, std::move(why)}});
}

// Groups of a class or set that the spec no longer has.
void FleetPlanner::drop_unknown(Index scope) {
  for (std::size_t g = 0; g < inventory_.groups().size(); ++g) {
    const PlacedGroup& group = planner_.state().groups()[g];
    const bool is_known = group.scope != scope || group.set != kNone;
    if (is_known || group.is_removing || !group.is_present) continue;
    remove(static_cast<Index>(g),
           fmt::format("the spec has no {} set {}", inventory_.scopes()[at(scope)].class_name,
                       inventory_.groups()[g].set),
           Cause::surplus);
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
        Cause::surplus);
  }
}

void FleetPlanner::balance_scope(Index scope) {
  const Scope& demand = inventory_.scopes()[at(scope)];
  if (demand.domains == 0) return;
  const DomainBounds bounds = domain_bounds(demand.desired_groups, demand.domains);
  const std::vector<int> counts = planner_.state().scopes()[at(scope)].counts;
  std::vector<DomainMember> all = members(scope, kNone);
  for (DomainMember& member : all) {
    if (kept_domains_.empty()) break;
    const Index set = planner_.state().groups()[at(find(scope, member.id))].set;
    member.is_fixed = kept_domains_.contains({set, member.domain});
  }
  const DomainChange change = balance_domains(all, demand.desired_groups, demand.domains);
  for (const std::string& id : change.replace) {
    const Index group = find(scope, id);
    const int domain = planner_.state().groups()[at(group)].domain;
    const std::string zone = planner_.state().domain_text(scope, domain);
    replace(group, Cause::domain,
            domain < demand.domains
                ? fmt::format("{} has {} groups, at most {}", zone, counts[at(domain)], bounds.max)
                : fmt::format("{} is not one of {} fault domains", zone, demand.domains),
            kNone, domain);
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
    replace(group, Cause::domain,
            fmt::format("{} has less than {} groups", planner_.state().domain_text(scope, shift.to),
                        bounds.min),
            shift.to);
  }
}

// Groups beyond the exact count of their AZ, or where the set wants none: those with the least
// data, then the youngest, are replaced elsewhere.
void FleetPlanner::balance_exact(Index set) {
  const SetRef& ref = inventory_.sets()[at(set)];
  if (!ref.demand->exact) return;
  std::vector<Index> victims;
  for (std::size_t g = 0; g < planner_.state().groups().size(); ++g) {
    const PlacedGroup& group = planner_.state().groups()[g];
    if (group.set == set && group.is_present && !group.is_removing)
      victims.push_back(static_cast<Index>(g));
  }
  std::sort(victims.begin(), victims.end(), [&](Index a, Index b) {
    const PlacedGroup& x = planner_.state().groups()[at(a)];
    const PlacedGroup& y = planner_.state().groups()[at(b)];
    return x.data_mib != y.data_mib ? x.data_mib < y.data_mib : compare_ids(x.id, y.id) > 0;
  });
  for (const Index g : victims) {
    const PlacedGroup& group = planner_.state().groups()[at(g)];
    const SetState& now = planner_.state().sets()[at(set)];
    const Index value = now.exact_value[at(group.host)];
    if (value != kNone && now.exact_count[at(value)] <= now.exact_target[at(value)]) continue;
    if (kept_values_.contains({set, value})) continue;
    replace(g, Cause::exact,
            value == kNone ? fmt::format("set {} wants no groups on {}", ref.demand->name,
                                         inventory_.hosts()[at(group.host)].id)
                           : fmt::format("{} groups in {}={}, wants {}", now.exact_count[at(value)],
                                         ref.demand->exact->label, now.exact_values[at(value)],
                                         now.exact_target[at(value)]),
            kNone);
  }
}

void FleetPlanner::replace(Index group, Cause cause, std::string why, int domain, int leaves) {
  Want want;
  want.set = planner_.state().groups()[at(group)].set;
  want.replaces = group;
  want.domain = domain;
  want.leaves = leaves;
  wants_.push_back(std::move(want));
  remove(group, std::move(why), cause);
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

// Decides one step. A group whose replacement has no host stays, and then the others are decided
// anew, with that group where it is: else they would count on a place that does not become free.
// Returns whether there is anything to do.
bool FleetPlanner::place(const std::vector<Index>& scopes, int step) {
  kept_domains_.clear();
  kept_values_.clear();
  std::vector<Unplaced> stuck;
  const std::size_t placed = plan_.placed.size();
  while (true) {
    const std::size_t mark = planner_.mark();
    want(scopes);
    sort_by_pickiness(planner_.state(), wants_);
    place_wants(step);
    if (!keep_stuck(stuck)) break;
    planner_.rollback(mark);
    plan_.placed.resize(placed);
  }
  std::move(stuck.begin(), stuck.end(), std::back_inserter(plan_.unplaced));
  return plan_.placed.size() > placed || !leaving_.empty();
}

void FleetPlanner::place_wants(int step) {
  const Choice choice = choose(planner_, wants_, options_.search_budget);
  plan_.unplaced.clear();
  const std::size_t begin = plan_.placed.size();
  for (std::size_t i = 0; i < wants_.size(); ++i) {
    carry_out(planner_, wants_[i], choice.decisions[i], options_.has_explanations, plan_.placed,
              plan_.unplaced);
  }
  for (std::size_t i = begin; i < plan_.placed.size(); ++i)
    plan_.placed[i].step = step;
}

// Notes the groups whose replacements have no host. Returns whether there are any.
bool FleetPlanner::keep_stuck(std::vector<Unplaced>& stuck) {
  std::map<std::pair<std::string, std::string>, Unplaced*> missing;
  for (Unplaced& one : plan_.unplaced) {
    if (!one.replaces.empty()) missing.emplace(std::pair(one.cluster, one.replaces), &one);
  }
  if (missing.empty()) return false;
  for (const Leaving& leaving : leaving_) {
    const auto found = missing.find({leaving.removal.cluster, leaving.removal.id});
    if (leaving.cause == Cause::surplus || found == missing.end()) continue;
    const PlacedGroup& group = planner_.state().groups()[at(leaving.group)];
    if (leaving.cause == Cause::domain) {
      kept_domains_.emplace(group.set, group.domain);
    } else {
      kept_values_.emplace(group.set,
                           planner_.state().sets()[at(group.set)].exact_value[at(group.host)]);
    }
    found->second->cause = leaving.removal.why;
    stuck.push_back(std::move(*found->second));
  }
  return true;
}

// A group that was only just decided and leaves again is left out; its successor takes its place.
// Only a new group can be: what replaces another has its data to copy before that one's room is
// free.
bool FleetPlanner::leave_out(Index group) {
  if (at(group) < inventory_.groups().size()) return false;
  const PlacedGroup& placed = planner_.state().groups()[at(group)];
  const std::string& cluster =
      inventory_.clusters()[at(inventory_.scopes()[at(placed.scope)].cluster)].name;
  const auto is_it = [&](const NewGroup& other) {
    return other.group.cluster == cluster && other.group.id == placed.id && other.replaces.empty();
  };
  if (std::erase_if(plan_.placed, is_it) == 0) return false;
  for (NewGroup& other : plan_.placed) {
    if (other.group.cluster == cluster && other.replaces == placed.id) other.replaces.clear();
  }
  return true;
}

// Groups that leave make room, and with it more may be possible than while they were there: so the
// next step is decided without them.
void FleetPlanner::settle() {
  for (Leaving& leaving : leaving_) {
    const bool is_left_out = leave_out(leaving.group);
    planner_.take_out(leaving.group);
    if (is_left_out) continue;
    (leaving.cause == Cause::surplus ? plan_.removed : plan_.replaced)
        .push_back(std::move(leaving.removal));
  }
}

}  // namespace

Result<FleetPlan> plan(Planner& planner, const PlanOptions& options) {
  return FleetPlanner(planner, options).run();
}

}  // namespace fdbpack::place
