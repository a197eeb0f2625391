// SPDX-License-Identifier: Apache-2.0
//
// Refusals in words.
#include "fdbpack/place/constraint.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fdbpack::place {
namespace {

std::size_t at(Index index) {
  return static_cast<std::size_t>(index);
}

std::string cores(std::int64_t milli) {
  if (milli % 1000 == 0) return std::to_string(milli / 1000);
  return fmt::format("{}.{:03}", milli / 1000, std::abs(milli) % 1000);
}

std::string set_hosts_reason(const Host& host, const SetDemand& set) {
  for (const auto& [label, value] : set.hosts) {
    const auto found = host.labels.find(label);
    if (found == host.labels.end()) {
      return fmt::format("has no label {}, set {} wants {}={}", label, set.name, label, value);
    }
    if (found->second != value) {
      return fmt::format("has {}={}, set {} wants {}={}", label, found->second, set.name, label,
                         value);
    }
  }
  return fmt::format("does not belong to set {}", set.name);
}

std::string exact_reason(const SetState& set, const SetDemand& demand, const Refusal& refusal) {
  const std::string& label = demand.exact->label;
  if (refusal.detail == kNone)
    return fmt::format("set {} wants no groups for its {}", demand.name, label);
  return fmt::format("{}={} has {} of {} groups of set {} already", label,
                     set.exact_values[at(refusal.detail)], refusal.have, refusal.need, demand.name);
}

std::string unit_reason(const Host& host, const UnitKind& wish) {
  std::vector<std::string> names;
  for (const Unit& unit : host.units)
    names.push_back(to_string(unit.kind));
  return fmt::format("has no storage unit {}, only {}", to_string(wish),
                     names.empty() ? "none at all" : fmt::format("{}", fmt::join(names, ", ")));
}

}  // namespace

std::string reason(const PlacementState& state, const Want& want, int domain, Index host,
                   const Refusal& refusal) {
  const Host& facts = state.inventory().hosts()[at(host)];
  const SetRef& ref = state.inventory().sets()[at(want.set)];
  const Scope& scope = state.inventory().scopes()[at(ref.scope)];
  const PhysicalView& view = state.inventory().physical()[at(scope.physical)];
  switch (refusal.constraint) {
    case Constraint::host_reachable:
      return "is unreachable";
    case Constraint::host_not_draining:
      return "is draining";
    case Constraint::host_allowed:
      return "is excluded by the request";
    case Constraint::set_hosts:
      return set_hosts_reason(facts, *ref.demand);
    case Constraint::physical_domain:
      return fmt::format("has no label {}, which names the physical domain", view.label);
    case Constraint::exact_count:
      return exact_reason(state.sets()[at(want.set)], *ref.demand, refusal);
    case Constraint::storage_unit:
      return unit_reason(facts, ref.demand->shape.disks[at(refusal.detail)].kind);
    case Constraint::storage_room:
      return fmt::format("disk of {} MiB does not fit: {} has room for {} MiB", refusal.need,
                         to_string(state.kinds()[at(state.units()[at(refusal.detail)].kind)]),
                         std::max<std::int64_t>(0, refusal.have));
    case Constraint::cpu:
      return fmt::format("needs {} cores, {} are left", cores(refusal.need), cores(refusal.have));
    case Constraint::memory:
      return fmt::format("needs {} MiB of memory, {} MiB are left", refusal.need, refusal.have);
    case Constraint::port_slot:
      return fmt::format("has no {} free port slots in a row below {}", refusal.need, refusal.have);
    case Constraint::fault_domain_separation: {
      const Index physical = view.domain_of[at(host)];
      const std::string where = view.label == "host" || physical == kNone
                                    ? std::string()
                                    : fmt::format("{} {} ", view.label, view.names[at(physical)]);
      const std::string more =
          refusal.have > 1 ? fmt::format(" and {} more", refusal.have - 1) : std::string();
      return fmt::format("{}carries {}{}, must not carry {} too", where,
                         state.domain_text(ref.scope, refusal.detail), more,
                         state.domain_text(ref.scope, domain));
    }
  }
  return "";
}

}  // namespace fdbpack::place
