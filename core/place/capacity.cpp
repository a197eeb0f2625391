// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/place/capacity.hpp"

#include "assignment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace fdbpack::place {
namespace {

std::size_t at(Index index) {
  return static_cast<std::size_t>(index);
}

// What is left on a host that some constraint has filled.
void add_stranded(const PlacementState& state, Index h, Constraint stop,
                  std::map<std::string, Stranded>& out) {
  const HostState& now = state.hosts()[at(h)];
  const auto add = [&](const std::string& resource, std::int64_t amount) {
    if (amount <= 0) return;
    Stranded& entry = out[resource];
    entry.resource = resource;
    entry.amount += amount;
    ++entry.hosts;
  };
  if (stop != Constraint::cpu) add("cpu", now.cpu_free);
  if (stop != Constraint::memory) add("memory", now.memory_free);
  if (stop == Constraint::storage_room) return;
  for (Index u = now.unit_begin; u < now.unit_end; ++u) {
    const UnitState& unit = state.units()[at(u)];
    add(to_string(state.kinds()[at(unit.kind)]), unit.room_mib);
  }
}

void explain_stop(const PlacementState& state, const Want& want, int domain, Capacity& out) {
  std::array<int, kConstraintCount> stops{};
  std::map<std::string, Stranded> stranded;
  for (std::size_t h = 0; h < state.hosts().size(); ++h) {
    const Verdict verdict = judge(state, want, domain, static_cast<Index>(h));
    // A host that would take it only by breaking a preference is full by that preference.
    const Constraint stop =
        verdict.refusal ? verdict.refusal->constraint : Constraint::fault_domain_separation;
    ++stops[static_cast<std::size_t>(stop)];
    const bool is_usable = stop != Constraint::host_reachable &&
                           stop != Constraint::host_not_draining &&
                           stop != Constraint::host_allowed && stop != Constraint::set_hosts;
    if (is_usable) add_stranded(state, static_cast<Index>(h), stop, stranded);
  }
  for (std::size_t i = 0; i < kConstraintCount; ++i) {
    if (stops[i] > 0) out.stops.push_back({static_cast<Constraint>(i), stops[i]});
  }
  std::stable_sort(out.stops.begin(), out.stops.end(),
                   [](const Stop& a, const Stop& b) { return a.hosts > b.hosts; });
  for (auto& [resource, entry] : stranded)
    out.stranded.push_back(std::move(entry));
}

// The set's groups placed one after the other, the way they would be for real. Returns how many
// went to each host.
std::vector<int> fill(Planner& planner, const Want& want, int groups_max) {
  std::vector<int> per_host(planner.state().hosts().size());
  for (int n = 0; n < groups_max; ++n) {
    std::optional<Decision> decision = planner.decide(want);
    if (!decision || decision->violations > 0) break;
    planner.accept(*decision);
    ++per_host[at(decision->host)];
  }
  return per_host;
}

int sum(const std::vector<int>& counts) {
  return std::accumulate(counts.begin(), counts.end(), 0);
}

// Exact counts say how many there are to be; a forecast asks how many there could be.
Result<Inventory> without_exact_counts(const Inventory& inventory, const CapacityRequest& request) {
  Fleet fleet = inventory.fleet();
  for (ClusterDemand& cluster : fleet.clusters) {
    for (ClassDemand& demand : cluster.classes) {
      for (SetDemand& set : demand.sets) {
        const bool is_it = cluster.name == request.cluster &&
                           demand.process_class == request.process_class && set.name == request.set;
        if (is_it) set.exact.reset();
      }
    }
  }
  return Inventory::build(std::move(fleet));
}

}  // namespace

Result<Capacity> capacity(Planner& planner, const CapacityRequest& request) {
  const Inventory& inventory = planner.state().inventory();
  const Index set = inventory.find_set(request.cluster, request.process_class, request.set);
  if (set == kNone) {
    return fail(ErrorCode::not_found,
                fmt::format("there is no {} set {} in cluster '{}'", request.process_class,
                            request.set, request.cluster));
  }
  const bool is_label =
      std::any_of(inventory.hosts().begin(), inventory.hosts().end(),
                  [&](const Host& h) { return !label_of(h, request.label).empty(); });
  if (!is_label && !request.label.empty()) {
    return fail(ErrorCode::not_found,
                fmt::format("no host has a label {} to count by", request.label));
  }
  if (inventory.sets()[at(set)].demand->exact) {
    FDBPACK_TRY(const Inventory relaxed, without_exact_counts(inventory, request));
    Planner another(relaxed);
    return capacity(another, request);
  }
  Capacity out;
  out.have = planner.state().sets()[at(set)].groups;
  out.want = inventory.sets()[at(set)].demand->count;
  Want want;
  want.set = set;
  want.id = "forecast";
  const std::size_t mark = planner.mark();
  std::vector<int> per_host = fill(planner, want, request.groups_max);
  if (has_assignments(inventory, set)) {
    planner.rollback(mark);
    auto better = fill_by_assignment(planner, want, sum(per_host), request.groups_max);
    per_host = better ? *std::move(better) : fill(planner, want, request.groups_max);
  }
  out.more = sum(per_host);
  for (std::size_t h = 0; h < per_host.size(); ++h) {
    if (per_host[h] > 0)
      out.per_value[label_of(inventory.hosts()[h], request.label)] += per_host[h];
  }
  out.is_limited = out.more == request.groups_max;
  const std::vector<int> domains = planner.domain_order(inventory.sets()[at(set)].scope);
  explain_stop(planner.state(), want, domains.empty() ? kNone : domains.front(), out);
  planner.rollback(mark);
  return out;
}

}  // namespace fdbpack::place
