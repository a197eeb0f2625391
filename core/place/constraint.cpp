// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/place/constraint.hpp"

#include "fdbpack/place/demand.hpp"

#include <algorithm>

namespace fdbpack::place {
namespace {

constexpr std::array<std::string_view, kConstraintCount> kNames = {
    "host_reachable", "host_not_draining", "host_allowed",
    "set_hosts",      "physical_domain",   "exact_count",
    "storage_unit",   "storage_room",      "cpu",
    "memory",         "port_slot",         "fault_domain_separation",
};

std::size_t at(Index index) {
  return static_cast<std::size_t>(index);
}

const SetDemand& demand_of(const PlacementState& state, Index set) {
  return *state.inventory().sets()[at(set)].demand;
}

// Refuses, or notes that a relaxed rule does not hold. Returns true when the host is out.
class Judge {
 public:
  Judge(const ConstraintSet& relaxed, ConstraintSet& breached)
      : relaxed_(relaxed), breached_(breached) {}

  bool refuse(bool holds, Refusal refusal) {
    if (holds) return false;
    if (relaxed_.contains(refusal.constraint)) {
      breached_.insert(refusal.constraint);
      return false;
    }
    refusal_ = refusal;
    return true;
  }
  [[nodiscard]] std::optional<Refusal> refusal() const { return refusal_; }

 private:
  const ConstraintSet& relaxed_;
  ConstraintSet& breached_;
  std::optional<Refusal> refusal_;
};

// The roomiest unit that can hold the disk. `taken` is what earlier disks of the same group took.
Index roomiest(const PlacementState& state, const WishedDisk& disk, const HostState& host,
               const std::vector<DiskAt>& taken, std::int64_t& room) {
  Index best = kNone;
  for (Index u = host.unit_begin; u < host.unit_end; ++u) {
    const UnitState& unit = state.units()[at(u)];
    if (!disk.kinds[at(unit.kind)]) continue;
    std::int64_t left = unit.room_mib;
    for (const DiskAt& other : taken)
      left -= other.unit == u ? other.size_mib : 0;
    if (best == kNone || left > room) {
      best = u;
      room = left;
    }
  }
  return best;
}

// Each disk on the roomiest unit in turn can take the only unit of a later disk: then all ways are
// tried, largest disk first. Groups have a handful of disks and hosts a handful of units; the bound
// is for those that do not.
class DiskFitter {
 public:
  DiskFitter(const PlacementState& state, const std::vector<WishedDisk>& disks,
             const HostState& host)
      : state_(state), disks_(disks), host_(host), order_(disks.size()), units_(disks.size()) {
    for (std::size_t d = 0; d < disks.size(); ++d)
      order_[d] = d;
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return disks[a].size_mib > disks[b].size_mib;
    });
    for (Index u = host.unit_begin; u < host.unit_end; ++u)
      room_.push_back(state.units()[at(u)].room_mib);
  }

  std::optional<std::vector<DiskAt>> fit() {
    if (!descend(0)) return std::nullopt;
    std::vector<DiskAt> out;
    for (std::size_t d = 0; d < disks_.size(); ++d)
      out.push_back({units_[d], disks_[d].size_mib});
    return out;
  }

 private:
  bool descend(std::size_t i) {
    if (i == order_.size()) return true;
    const WishedDisk& disk = disks_[order_[i]];
    for (Index u = host_.unit_begin; u < host_.unit_end; ++u) {
      std::int64_t& room = room_[at(u - host_.unit_begin)];
      if (!disk.kinds[at(state_.units()[at(u)].kind)] || room < disk.size_mib) continue;
      if (--budget_ < 0) return false;
      room -= disk.size_mib;
      units_[order_[i]] = u;
      if (descend(i + 1)) return true;
      room += disk.size_mib;
    }
    return false;
  }

  const PlacementState& state_;
  const std::vector<WishedDisk>& disks_;
  const HostState& host_;
  std::vector<std::size_t> order_;
  std::vector<Index> units_;
  std::vector<std::int64_t> room_;
  int budget_ = 10'000;
};

std::optional<Refusal> check_disks(const PlacementState& state, Index set, Index host) {
  const std::vector<WishedDisk>& disks = state.sets()[at(set)].disks;
  std::vector<DiskAt> taken;
  for (std::size_t d = 0; d < disks.size(); ++d) {
    std::int64_t room = 0;
    const Index unit = roomiest(state, disks[d], state.hosts()[at(host)], taken, room);
    if (unit == kNone) return Refusal{Constraint::storage_unit, 0, 0, static_cast<Index>(d)};
    if (room < disks[d].size_mib) {
      const bool has_others =
          d > 0 && DiskFitter(state, disks, state.hosts()[at(host)]).fit().has_value();
      if (has_others) return std::nullopt;
      return Refusal{Constraint::storage_room, disks[d].size_mib, room, unit};
    }
    if (disks.size() > 1) taken.push_back({unit, disks[d].size_mib});
  }
  return std::nullopt;
}

constexpr std::int64_t kMillion = 1'000'000;

// What a disk on a unit that has `room` left does to the storage metric, see HostCost.
void add_disk_cost(const PlacementState& state, Index u, std::int64_t room, std::int64_t size,
                   HostCost& out) {
  const UnitState& unit = state.units()[at(u)];
  if (unit.total_mib <= 0) return;
  const std::int64_t units = std::max<std::int64_t>(1, state.shares()[at(unit.kind)].units);
  const std::int64_t free = room * kMillion / unit.total_mib;
  const std::int64_t takes = size * kMillion / unit.total_mib;
  const std::int64_t times = state.scales()[at(unit.scale)].times;
  out.storage += times * (takes * (units - 1) / (2 * units) - free) / kScaleOne;
  out.scales.push_back(unit.scale);
}

// How many other logical domains of the scope are on the host's physical domain; is `domain` there
// too?
int other_domains(const PlacementState& state, Index scope, int domain, Index host,
                  bool& is_together, Index& other) {
  const Index physical = state.physical_of(scope, host);
  int others = 0;
  if (physical == kNone) return others;
  for (const DomainCount& entry : state.scopes()[at(scope)].on_physical[at(physical)]) {
    if (entry.domain == domain) {
      is_together = true;
    } else {
      ++others;
      if (other == kNone || entry.domain < other) other = entry.domain;
    }
  }
  return others;
}

int count(const ConstraintSet& set) {
  int sum = 0;
  for (std::size_t i = 0; i < kConstraintCount; ++i)
    sum += set.contains(static_cast<Constraint>(i)) ? 1 : 0;
  return sum;
}

}  // namespace

std::string_view to_string(Constraint constraint) {
  return kNames[static_cast<std::size_t>(constraint)];
}

Result<Constraint> parse_constraint(std::string_view name) {
  for (std::size_t i = 0; i < kConstraintCount; ++i) {
    if (kNames[i] == name) return static_cast<Constraint>(i);
  }
  return fail(ErrorCode::invalid_argument, "there is no constraint '" + std::string(name) + "'");
}

bool can_relax(Constraint constraint) {
  return constraint != Constraint::storage_unit && constraint != Constraint::storage_room &&
         constraint != Constraint::port_slot && constraint != Constraint::host_allowed;
}

std::optional<Refusal> check_fit(const PlacementState& state, Index set, Index host,
                                 const ConstraintSet& relaxed, ConstraintSet& breached) {
  const Host& facts = state.inventory().hosts()[at(host)];
  const HostState& now = state.hosts()[at(host)];
  const Shape& shape = demand_of(state, set).shape;
  const Index scope = state.inventory().sets()[at(set)].scope;
  Judge judge(relaxed, breached);
  if (judge.refuse(!facts.is_unreachable, {Constraint::host_reachable})) return judge.refusal();
  if (judge.refuse(!facts.is_draining, {Constraint::host_not_draining})) return judge.refusal();
  if (now.is_closed) return Refusal{Constraint::host_allowed};
  if (judge.refuse(state.sets()[at(set)].is_eligible[at(host)], {Constraint::set_hosts}))
    return judge.refusal();
  if (judge.refuse(state.physical_of(scope, host) != kNone, {Constraint::physical_domain})) {
    return judge.refusal();
  }
  if (const auto refusal = check_disks(state, set, host)) return refusal;
  const bool has_cpu = shape.cpu_milli == 0 || now.cpu_free >= shape.cpu_milli;
  if (judge.refuse(has_cpu, {Constraint::cpu, shape.cpu_milli, now.cpu_free}))
    return judge.refusal();
  const bool has_memory = shape.memory_mib == 0 || now.memory_free >= shape.memory_mib;
  if (judge.refuse(has_memory, {Constraint::memory, shape.memory_mib, now.memory_free})) {
    return judge.refusal();
  }
  if (state.free_slot(host, shape.servers) == kNone) {
    return Refusal{Constraint::port_slot, shape.servers, facts.port_slots};
  }
  return std::nullopt;
}

Verdict judge(const PlacementState& state, const Want& want, int domain, Index host) {
  Verdict verdict;
  if (std::binary_search(want.avoid.begin(), want.avoid.end(), host)) {
    verdict.refusal = Refusal{Constraint::host_allowed};
    return verdict;
  }
  const SetState& set = state.sets()[at(want.set)];
  const SetRef& ref = state.inventory().sets()[at(want.set)];
  const Scope& scope = state.inventory().scopes()[at(ref.scope)];
  if (!set.exact_value.empty()) {
    Judge exact(want.relaxed, verdict.breached);
    const Index value = set.exact_value[at(host)];
    const int target = value == kNone ? 0 : set.exact_target[at(value)];
    const int have = value == kNone ? 0 : set.exact_count[at(value)];
    if (exact.refuse(have < target, {Constraint::exact_count, target, have, value})) {
      // Rules that come earlier in the list are reported first.
      ConstraintSet ignored;
      const auto earlier = check_fit(state, want.set, host, want.relaxed, ignored);
      const bool is_earlier = earlier && earlier->constraint < Constraint::exact_count;
      verdict.refusal = is_earlier ? earlier : exact.refusal();
      return verdict;
    }
    verdict.terms.exact_shortfall = have - target;
  }
  verdict.refusal = check_fit(state, want.set, host, want.relaxed, verdict.breached);
  if (verdict.refusal) return verdict;
  if (scope.domains > 0) {
    bool is_together = false;
    Index other = kNone;
    const int others = other_domains(state, ref.scope, domain, host, is_together, other);
    const bool is_hard =
        scope.is_required && !want.relaxed.contains(Constraint::fault_domain_separation);
    if (others > 0 && is_hard) {
      verdict.refusal = Refusal{Constraint::fault_domain_separation, domain, others, other};
      return verdict;
    }
    if (others > 0) verdict.breached.insert(Constraint::fault_domain_separation);
    verdict.terms.violations = std::max(0, others - 1);
    verdict.terms.spread = is_together ? 0 : 1;
  } else if (const Index physical = state.physical_of(ref.scope, host); physical != kNone) {
    verdict.terms.spread = state.scopes()[at(ref.scope)].groups_on_physical[at(physical)];
  }
  verdict.terms.violations += count(verdict.breached);
  const HostCost cost = host_cost(state, want.set, host);
  verdict.terms.utilisation = cost.utilisation;
  verdict.terms.storage = cost.storage + storage_means(state, cost.scales);
  return verdict;
}

HostCost host_cost(const PlacementState& state, Index set, Index host) {
  const Host& facts = state.inventory().hosts()[at(host)];
  const HostState& now = state.hosts()[at(host)];
  const Shape& shape = demand_of(state, set).shape;
  HostCost out;
  if (facts.cpu_milli > 0) {
    out.utilisation +=
        (facts.cpu_milli - now.cpu_free + shape.cpu_milli) * kMillion / facts.cpu_milli;
  }
  if (facts.memory_mib > 0) {
    out.utilisation +=
        (facts.memory_mib - now.memory_free + shape.memory_mib) * kMillion / facts.memory_mib;
  }
  const std::vector<WishedDisk>& disks = state.sets()[at(set)].disks;
  if (disks.size() == 1) {  // the usual case, without a list of units
    std::int64_t room = 0;
    const Index unit = roomiest(state, disks.front(), now, {}, room);
    if (unit != kNone) add_disk_cost(state, unit, room, disks.front().size_mib, out);
    return out;
  }
  const auto chosen = choose_units(state, set, host);
  if (!chosen) return out;
  for (auto disk = chosen->begin(); disk != chosen->end(); ++disk) {
    std::int64_t room = state.units()[at(disk->unit)].room_mib;
    for (auto other = chosen->begin(); other != disk; ++other)
      room -= other->unit == disk->unit ? other->size_mib : 0;
    add_disk_cost(state, disk->unit, room, disk->size_mib, out);
  }
  return out;
}

std::int64_t storage_means(const PlacementState& state, const std::vector<Index>& scales) {
  std::int64_t sum = 0;
  for (const Index s : scales) {
    const UnitScale& scale = state.scales()[at(s)];
    sum += scale.times * state.shares()[at(scale.kind)].mean() / kScaleOne;
  }
  return sum;
}

std::optional<std::vector<DiskAt>> choose_units(const PlacementState& state, Index set,
                                                Index host) {
  const std::vector<WishedDisk>& disks = state.sets()[at(set)].disks;
  std::vector<DiskAt> out;
  out.reserve(disks.size());
  for (const WishedDisk& disk : disks) {
    std::int64_t room = 0;
    const Index unit = roomiest(state, disk, state.hosts()[at(host)], out, room);
    if (unit == kNone) return std::nullopt;
    if (room < disk.size_mib)
      return out.empty() ? std::nullopt : DiskFitter(state, disks, state.hosts()[at(host)]).fit();
    out.push_back({unit, disk.size_mib});
  }
  return out;
}

}  // namespace fdbpack::place
