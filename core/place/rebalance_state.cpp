// SPDX-License-Identifier: Apache-2.0
#include "rebalance_state.hpp"

#include <algorithm>
#include <cmath>

namespace fdbpack::place {
namespace {

std::size_t at(Index index) {
  return static_cast<std::size_t>(index);
}

void change(Deviation& deviation, double value, int sign) {
  deviation.n += sign;
  deviation.sum += sign * value;
  deviation.squares += sign * value * value;
}

}  // namespace

RebalanceState::RebalanceState(Planner& planner)
    : planner_(planner),
      groups_on_(planner.state().hosts().size()),
      kinds_(planner.state().kinds().size()) {
  const Inventory& inventory = state().inventory();
  for (std::size_t g = 0; g < state().groups().size(); ++g) {
    const PlacedGroup& group = state().groups()[g];
    const bool is_healthy =
        inventory.clusters()[at(inventory.scopes()[at(group.scope)].cluster)].is_healthy;
    const bool is_movable =
        group.is_present && !group.is_removing && group.set != kNone && is_healthy;
    if (is_movable) groups_on_[at(group.host)].push_back(static_cast<Index>(g));
  }
  for (std::size_t h = 0; h < state().hosts().size(); ++h)
    insert(static_cast<Index>(h), 1);
}

bool RebalanceState::is_counted(Index host) const {
  const Host& facts = state().inventory().hosts()[at(host)];
  return !facts.is_unreachable && !facts.is_draining;
}

double RebalanceState::cpu_share(Index host, std::int64_t extra) const {
  const std::int64_t total = state().inventory().hosts()[at(host)].cpu_milli;
  if (total <= 0) return 0;
  return static_cast<double>(total - state().hosts()[at(host)].cpu_free + extra) /
         static_cast<double>(total);
}

double RebalanceState::memory_share(Index host, std::int64_t extra) const {
  const std::int64_t total = state().inventory().hosts()[at(host)].memory_mib;
  if (total <= 0) return 0;
  return static_cast<double>(total - state().hosts()[at(host)].memory_free + extra) /
         static_cast<double>(total);
}

double RebalanceState::unit_share(Index unit, std::int64_t extra) const {
  const UnitState& now = state().units()[at(unit)];
  if (now.total_mib <= 0) return 0;
  return static_cast<double>(now.room_mib - extra) / static_cast<double>(now.total_mib);
}

// Puts the host's shares into the sums (1) or takes them out (-1).
void RebalanceState::insert(Index host, int sign) {
  if (!is_counted(host)) return;
  const Host& facts = state().inventory().hosts()[at(host)];
  if (facts.cpu_milli > 0) change(cpu_, cpu_share(host, 0), sign);
  if (facts.memory_mib > 0) change(memory_, memory_share(host, 0), sign);
  const HostState& now = state().hosts()[at(host)];
  for (Index u = now.unit_begin; u < now.unit_end; ++u) {
    const UnitState& unit = state().units()[at(u)];
    if (unit.total_mib > 0) change(kinds_[at(unit.kind)], unit_share(u, 0), sign);
  }
}

double RebalanceState::score() const {
  double storage = 0;
  for (const Deviation& kind : kinds_)
    storage += kind.sample();
  if (!kinds_.empty()) storage /= static_cast<double>(kinds_.size());
  return cpu_.population() + memory_.population() + storage;
}

double RebalanceState::heat(Index host) const {
  if (!is_counted(host)) return 0;
  const auto term = [](const Deviation& d, double value) {
    const double deviation = d.population();
    return deviation < 1e-12 ? 0.0 : (value - d.sum / d.n) / deviation;
  };
  double sum = term(cpu_, cpu_share(host, 0)) + term(memory_, memory_share(host, 0));
  const HostState& now = state().hosts()[at(host)];
  for (Index u = now.unit_begin; u < now.unit_end; ++u) {
    sum -= term(kinds_[at(state().units()[at(u)].kind)], unit_share(u, 0));
  }
  return sum;
}

Want RebalanceState::want_for(Index group) const {
  const PlacedGroup& placed = state().groups()[at(group)];
  Want want;
  want.set = placed.set;
  want.replaces = group;
  const int domains = state().inventory().scopes()[at(placed.scope)].domains;
  if (domains > 0) want.domain = placed.domain;
  return want;
}

// How violations and spread change when the group's replacement is at `to` and the group is gone.
Change RebalanceState::domain_change(Index group, Index to) const {
  const PlacedGroup& placed = state().groups()[at(group)];
  const Index from = state().physical_of(placed.scope, placed.host);
  const Index target = state().physical_of(placed.scope, to);
  Change out;
  if (from == target || from == kNone || target == kNone) return out;
  const ScopeState& scope = state().scopes()[at(placed.scope)];
  if (state().inventory().scopes()[at(placed.scope)].domains == 0) {
    // The sum of squares falls exactly when the source has at least two more than the target.
    out.spread = scope.groups_on_physical[at(target)] + 1 - scope.groups_on_physical[at(from)];
    return out;
  }
  bool was_last = false;
  bool is_there = false;
  for (const DomainCount& entry : scope.on_physical[at(from)]) {
    if (entry.domain == placed.domain) was_last = entry.groups == 1;
  }
  for (const DomainCount& entry : scope.on_physical[at(target)])
    is_there = is_there || entry.domain == placed.domain;
  if (was_last && scope.on_physical[at(from)].size() > 1) --out.violations;
  if (!is_there && !scope.on_physical[at(target)].empty()) ++out.violations;
  // A domain must not be spread over more hosts, but no data is moved only to draw it together.
  out.spread = std::max(0, (is_there ? 0 : 1) - (was_last ? 1 : 0));
  return out;
}

void RebalanceState::change_host(Index host, std::int64_t cpu, std::int64_t memory) const {
  for (Deltas::OnHost& other : deltas_.hosts) {
    if (other.host != host) continue;
    other.cpu += cpu;
    other.memory += memory;
    return;
  }
  deltas_.hosts.push_back({host, cpu, memory});
}

void RebalanceState::change_unit(Index host, Index unit, std::int64_t disk) const {
  if (unit == kNone) return;
  for (Deltas::OnUnit& other : deltas_.units) {
    if (other.unit != unit) continue;
    other.disk += disk;
    return;
  }
  deltas_.units.push_back({host, unit, disk});
}

void RebalanceState::take_off(Index group) const {
  const PlacedGroup& placed = state().groups()[at(group)];
  change_host(placed.host, -placed.cpu_milli, -placed.memory_mib);
  for (const DiskAt& disk : placed.disks)
    change_unit(placed.host, disk.unit, -disk.size_mib);
}

void RebalanceState::put_on(Index group, Index host) const {
  const Index set = state().groups()[at(group)].set;
  const Shape& shape = state().inventory().sets()[at(set)].demand->shape;
  change_host(host, shape.cpu_milli, shape.memory_mib);
  const auto units = choose_units(state(), set, host);
  if (!units) return;
  for (const DiskAt& disk : *units)
    change_unit(host, disk.unit, disk.size_mib);
}

double RebalanceState::score_after() const {
  Deviation cpu = cpu_;
  Deviation memory = memory_;
  for (const Deltas::OnHost& delta : deltas_.hosts) {
    if (!is_counted(delta.host)) continue;
    cpu.replace(cpu_share(delta.host, 0), cpu_share(delta.host, delta.cpu));
    memory.replace(memory_share(delta.host, 0), memory_share(delta.host, delta.memory));
  }
  const auto find = [&](Index kind) {
    return std::find_if(deltas_.kinds.begin(), deltas_.kinds.end(),
                        [&](const auto& entry) { return entry.first == kind; });
  };
  for (const Deltas::OnUnit& delta : deltas_.units) {
    if (!is_counted(delta.host)) continue;
    const Index kind = state().units()[at(delta.unit)].kind;
    auto found = find(kind);
    if (found == deltas_.kinds.end()) found = deltas_.kinds.insert(found, {kind, kinds_[at(kind)]});
    found->second.replace(unit_share(delta.unit, 0), unit_share(delta.unit, delta.disk));
  }
  double storage = 0;
  for (std::size_t k = 0; k < kinds_.size(); ++k) {
    const auto found = find(static_cast<Index>(k));
    storage += found == deltas_.kinds.end() ? kinds_[k].sample() : found->second.sample();
  }
  if (!kinds_.empty()) storage /= static_cast<double>(kinds_.size());
  deltas_.hosts.clear();
  deltas_.units.clear();
  deltas_.kinds.clear();
  return cpu.population() + memory.population() + storage;
}

std::optional<Refusal> RebalanceState::refusal(Index group, Index to) const {
  const PlacedGroup& placed = state().groups()[at(group)];
  const SetState& set = state().sets()[at(placed.set)];
  // Exact counts stay exact: the replacement stays in its AZ.
  if (!set.exact_value.empty() && set.exact_value[at(placed.host)] != set.exact_value[at(to)]) {
    const Index value = set.exact_value[at(to)];
    if (value == kNone) return Refusal{Constraint::exact_count};
    return Refusal{Constraint::exact_count, set.exact_target[at(value)], set.exact_count[at(value)],
                   value};
  }
  ConstraintSet breached;
  if (const auto fit = check_fit(state(), placed.set, to, {}, breached)) return fit;
  if (!state().inventory().scopes()[at(placed.scope)].is_required) return std::nullopt;
  const Index physical = state().physical_of(placed.scope, to);
  Refusal refusal{Constraint::fault_domain_separation, placed.domain};
  for (const DomainCount& entry : state().scopes()[at(placed.scope)].on_physical[at(physical)]) {
    if (entry.domain == placed.domain) continue;
    ++refusal.have;
    if (refusal.detail == kNone || entry.domain < refusal.detail) refusal.detail = entry.domain;
  }
  return refusal.have > 0 ? std::optional(refusal) : std::nullopt;
}

Change RebalanceState::change_of(Index group, Index to) const {
  Change out = domain_change(group, to);
  take_off(group);
  put_on(group, to);
  out.score = score_after();
  return out;
}

std::optional<Change> RebalanceState::try_move(Index group, Index to) const {
  if (!domain_change(group, to).is_clean() || refusal(group, to)) return std::nullopt;
  return change_of(group, to);
}

std::optional<Change> RebalanceState::try_swap(Index a, Index b) const {
  const PlacedGroup& first = state().groups()[at(a)];
  const PlacedGroup& second = state().groups()[at(b)];
  Change out;
  if (first.scope == second.scope) {
    // Within a class nothing but the score may change: same domain, or no domains at all.
    const bool has_domains = state().inventory().scopes()[at(first.scope)].domains > 0;
    if (has_domains && first.domain != second.domain) return std::nullopt;
  } else {
    const Change there = domain_change(a, second.host);
    const Change back = domain_change(b, first.host);
    if (!there.is_clean() || !back.is_clean()) return std::nullopt;
    out.violations = there.violations + back.violations;
    out.spread = there.spread + back.spread;
  }
  if (refusal(a, second.host) || refusal(b, first.host)) return std::nullopt;
  take_off(a);
  take_off(b);
  put_on(a, second.host);
  put_on(b, first.host);
  out.score = score_after();
  return out;
}

bool RebalanceState::can_move(Index group, const Decision& as, bool has_partner) const {
  if (!has_partner && domain_change(group, as.host).violations > 0) return false;
  if (refusal(group, as.host)) return false;
  for (const DiskAt& disk : as.disks) {
    std::int64_t wanted = 0;
    for (const DiskAt& other : as.disks)
      wanted += other.unit == disk.unit ? other.size_mib : 0;
    if (state().units()[at(disk.unit)].room_mib < wanted) return false;
  }
  return true;
}

std::vector<Decision> RebalanceState::make(const std::vector<Relocation>& moves) {
  std::vector<Index> touched;
  std::vector<Decision> decisions;
  for (const Relocation& move : moves) {
    touched.push_back(state().groups()[at(move.group)].host);
    touched.push_back(move.to);
    Want want = want_for(move.group);
    want.id = move.id;
    decisions.push_back(planner_.make_decision(want, want.domain, move.to));
    if (move.as == nullptr) continue;
    decisions.back().disks = move.as->disks;
    const int servers = state().inventory().sets()[at(want.set)].demand->shape.servers;
    if (state().is_slot_free(move.to, move.as->slot, servers))
      decisions.back().slot = move.as->slot;
  }
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  for (const Index host : touched)
    insert(host, -1);
  for (Decision& decision : decisions)
    groups_on_[at(decision.host)].push_back(planner_.accept(decision));
  for (const Relocation& move : moves) {
    std::erase(groups_on_[at(state().groups()[at(move.group)].host)], move.group);
    planner_.take_out(move.group);
  }
  for (const Index host : touched)
    insert(host, 1);
  return decisions;
}

}  // namespace fdbpack::place
