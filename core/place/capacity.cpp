// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/place/capacity.hpp"

#include "fdbpack/place/explain.hpp"
#include "fdbpack/place/order.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fdbpack::place {
namespace {

std::size_t at(Index index) {
  return static_cast<std::size_t>(index);
}

std::string label_of(const Host& host, const std::string& label) {
  if (label == "host") return host.id;
  const auto found = host.labels.find(label);
  return found == host.labels.end() ? "" : found->second;
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

}  // namespace

Result<Capacity> capacity(Planner& planner, const CapacityRequest& request) {
  const Inventory& inventory = planner.state().inventory();
  const Index set = inventory.find_set(request.cluster, request.process_class, request.set);
  if (set == kNone) {
    return fail(ErrorCode::not_found,
                fmt::format("there is no {} set {} in cluster '{}'", request.process_class,
                            request.set, request.cluster));
  }
  Capacity out;
  out.have = planner.state().sets()[at(set)].groups;
  out.want = inventory.sets()[at(set)].demand->count;
  const std::size_t mark = planner.mark();
  Want want;
  want.set = set;
  want.id = "forecast";
  std::vector<int> per_host(inventory.hosts().size());
  while (out.more < request.groups_max) {
    std::optional<Decision> decision = planner.decide(want);
    if (!decision || decision->violations > 0) break;
    planner.accept(*decision);
    ++out.more;
    ++per_host[at(decision->host)];
  }
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

Result<std::vector<Loss>> survive(Planner& planner, const std::string& label,
                                  const std::string& domain) {
  const Inventory& inventory = planner.state().inventory();
  std::map<std::string, std::vector<Index>, IdLess> members;
  for (std::size_t h = 0; h < inventory.hosts().size(); ++h) {
    const std::string value = label_of(inventory.hosts()[h], label);
    if (!value.empty() && (domain.empty() || domain == value))
      members[value].push_back(static_cast<Index>(h));
  }
  if (members.empty()) {
    return fail(ErrorCode::not_found,
                fmt::format("no host has {}{}", label, domain.empty() ? "" : "=" + domain));
  }
  std::vector<std::vector<Index>> groups_on(inventory.hosts().size());
  for (std::size_t g = 0; g < inventory.groups().size(); ++g) {
    const PlacedGroup& group = planner.state().groups()[g];
    if (group.is_removing || group.set == kNone) continue;
    groups_on[at(group.host)].push_back(static_cast<Index>(g));
  }
  std::vector<Loss> out;
  for (const auto& [name, hosts] : members) {
    Loss loss;
    loss.domain = name;
    const std::size_t mark = planner.mark();
    std::vector<Want> wants;
    for (const Index host : hosts) {
      planner.close(host);
      for (const Index g : groups_on[at(host)]) {
        const PlacedGroup& group = planner.state().groups()[at(g)];
        Want want;
        want.set = group.set;
        want.id = group.id;
        want.replaces = g;
        const int domains = inventory.scopes()[at(group.scope)].domains;
        if (domains > 0 && group.domain < domains) want.domain = group.domain;
        wants.push_back(std::move(want));
        planner.take_out(g);
        ++loss.groups;
      }
    }
    for (const Want& want : wants) {
      std::optional<Decision> decision = planner.decide(want);
      if (decision) {
        loss.violations += decision->violations;
        planner.accept(*decision);
        continue;
      }
      if (loss.unplaced++ > 0) continue;
      loss.first_unplaced = inventory.groups()[at(want.replaces)].cluster + "/" + want.id;
      loss.why = explain_refusals(planner.explain(want));
    }
    planner.rollback(mark);
    out.push_back(std::move(loss));
  }
  return out;
}

}  // namespace fdbpack::place
