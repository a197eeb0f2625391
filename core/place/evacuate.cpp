// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/place/evacuate.hpp"

#include "fdbpack/place/fault_domains.hpp"
#include "fdbpack/place/ids.hpp"
#include "search.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace fdbpack::place {
namespace {

std::size_t at(Index index) {
  return static_cast<std::size_t>(index);
}

struct Target {
  std::set<Index> hosts;
  std::vector<Index> groups;
};

Result<std::set<Index>> find_hosts(const Inventory& inventory, const EvacuateRequest& request) {
  std::set<Index> out;
  for (const std::string& id : request.hosts) {
    const Index host = inventory.find_host(id);
    if (host == kNone) return fail(ErrorCode::not_found, "there is no host " + id);
    out.insert(host);
  }
  if (request.label.empty()) return out;
  if (request.value.empty()) {
    return fail(ErrorCode::invalid_argument,
                "the physical domain " + request.label + " has no name");
  }
  for (std::size_t h = 0; h < inventory.hosts().size(); ++h) {
    if (label_of(inventory.hosts()[h], request.label) == request.value)
      out.insert(static_cast<Index>(h));
  }
  if (out.empty()) {
    return fail(ErrorCode::not_found, "no host has " + request.label + "=" + request.value);
  }
  return out;
}

Result<Target> find_target(const PlacementState& state, const EvacuateRequest& request) {
  const Inventory& inventory = state.inventory();
  const int asked = (request.hosts.empty() ? 0 : 1) + (request.label.empty() ? 0 : 1) +
                    (request.set.empty() ? 0 : 1) + (request.fault_domain.empty() ? 0 : 1);
  if (asked != 1) {
    return fail(ErrorCode::invalid_argument,
                "say one of: hosts, a physical domain, a set, a fault domain");
  }
  Target target;
  FDBPACK_TRY(target.hosts, find_hosts(inventory, request));
  const bool by_host = !target.hosts.empty();
  for (std::size_t g = 0; g < inventory.groups().size(); ++g) {
    const Group& facts = inventory.groups()[g];
    const PlacedGroup& group = state.groups()[g];
    if (!group.is_present || group.is_removing) continue;
    const bool is_in_set = !request.set.empty() && facts.cluster == request.cluster &&
                           facts.process_class == request.process_class && facts.set == request.set;
    const bool is_in_domain = !request.fault_domain.empty() && facts.cluster == request.cluster &&
                              facts.fault_domain == request.fault_domain;
    const bool is_on_host = by_host && target.hosts.contains(group.host);
    if (is_in_set || is_in_domain || is_on_host) target.groups.push_back(static_cast<Index>(g));
  }
  if (by_host) return target;
  if (target.groups.empty()) {
    return fail(ErrorCode::not_found,
                "no process group is in " + request.cluster + " " +
                    (request.set.empty() ? request.fault_domain : request.set));
  }
  for (const Index group : target.groups)
    target.hosts.insert(state.groups()[at(group)].host);
  return target;
}

}  // namespace

Result<Evacuation> evacuate(Planner& planner, const EvacuateRequest& request) {
  FDBPACK_TRY(const Target target, find_target(planner.state(), request));
  const Inventory& inventory = planner.state().inventory();
  Evacuation out;
  for (const Index host : target.hosts) {
    planner.close(host);
    out.hosts.push_back(inventory.hosts()[at(host)].id);
  }
  std::map<Index, IdSource> ids;
  std::vector<Want> wants;
  for (const Index g : target.groups) {
    const PlacedGroup& group = planner.state().groups()[at(g)];
    if (group.set == kNone) {
      out.stranded.push_back(inventory.groups()[at(g)].cluster + "/" + group.id);
      continue;
    }
    const Scope& scope = inventory.scopes()[at(group.scope)];
    Want want;
    want.set = group.set;
    want.replaces = g;
    want.relaxed = request.relaxed;
    if (scope.domains > 0 && group.domain < scope.domains) want.domain = group.domain;
    want.id = ids.try_emplace(group.scope, planner.state(), group.scope).first->second.next();
    out.data_mib += group.data_mib;
    wants.push_back(std::move(want));
  }
  for (const Want& want : wants)
    planner.mark_removing(want.replaces);
  sort_by_pickiness(planner.state(), wants);
  const Choice choice = choose(planner, wants, request.search_budget);
  for (std::size_t i = 0; i < wants.size(); ++i) {
    carry_out(planner, wants[i], choice.decisions[i], request.has_explanations, out.placed,
              out.unplaced);
  }
  return out;
}

}  // namespace fdbpack::place
