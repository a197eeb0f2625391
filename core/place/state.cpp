// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/place/state.hpp"

#include "fdbpack/base/check.hpp"
#include "fdbpack/base/random.hpp"
#include "fdbpack/place/demand.hpp"
#include "fdbpack/place/fault_domains.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace fdbpack::place {
namespace {

// Numbers of zones that are not <class>-<k>: a physical domain that is its own zone, and any other
// name.
constexpr int kPhysicalZone = 2'000'000;
constexpr int kForeignZone = 500'000'000;

std::size_t at(Index index) {
  return static_cast<std::size_t>(index);
}

void take_slots(std::vector<SlotRange>& slots, int begin, int end) {
  const auto place = std::partition_point(slots.begin(), slots.end(), [&](const SlotRange& range) {
    return range.begin < begin || (range.begin == begin && range.end < end);
  });
  slots.insert(place, SlotRange{begin, end});
}

void free_slots(std::vector<SlotRange>& slots, int begin, int end) {
  const auto found = std::find_if(slots.begin(), slots.end(), [&](const SlotRange& range) {
    return range.begin == begin && range.end == end;
  });
  FDBPACK_CHECK(found != slots.end());
  slots.erase(found);
}

}  // namespace

PlacementState::PlacementState(const Inventory& inventory) : inventory_(&inventory) {
  load_units();
  load_scales();
  load_sets();
  load_groups();
}

void PlacementState::load_units() {
  for (const Host& host : inventory_->hosts()) {
    for (const Unit& unit : host.units)
      kinds_.push_back(unit.kind);
  }
  std::sort(kinds_.begin(), kinds_.end());
  kinds_.erase(std::unique(kinds_.begin(), kinds_.end()), kinds_.end());
  for (const Host& host : inventory_->hosts()) {
    HostState state;
    state.cpu_free = host.cpu_milli;
    state.memory_free = host.memory_mib;
    state.unit_begin = static_cast<Index>(units_.size());
    for (const Unit& unit : host.units) {
      const auto kind = std::lower_bound(kinds_.begin(), kinds_.end(), unit.kind);
      UnitState now;
      now.kind = static_cast<Index>(kind - kinds_.begin());
      now.total_mib = unit.total_mib;
      now.room_mib = unit.free_mib;
      now.is_counted = unit.total_mib > 0 && !host.is_draining && !host.is_unreachable;
      units_.push_back(now);
    }
    state.unit_end = static_cast<Index>(units_.size());
    hosts_.push_back(std::move(state));
  }
}

// Sizes that are within a few percent of each other, or far below the largest, are one scale.
void PlacementState::load_scales() {
  std::vector<std::int64_t> largest(kinds_.size());
  for (const UnitState& unit : units_)
    largest[at(unit.kind)] = std::max(largest[at(unit.kind)], unit.total_mib);
  const auto scale_of = [&](const UnitState& unit) {
    const std::int64_t total = std::max<std::int64_t>(1, unit.total_mib);
    const std::int64_t times = (kScaleOne * largest[at(unit.kind)] + total / 2) / total;
    return UnitScale{unit.kind, std::clamp(times, kScaleOne, kScaleOne * kScaleOne)};
  };
  for (const UnitState& unit : units_)
    scales_.push_back(scale_of(unit));
  std::sort(scales_.begin(), scales_.end());
  scales_.erase(std::unique(scales_.begin(), scales_.end()), scales_.end());
  for (UnitState& unit : units_) {
    const auto found = std::lower_bound(scales_.begin(), scales_.end(), scale_of(unit));
    unit.scale = static_cast<Index>(found - scales_.begin());
  }
}

void PlacementState::load_shares() {
  shares_.assign(kinds_.size(), {});
  for (const UnitState& unit : units_) {
    if (!unit.is_counted) continue;
    shares_[at(unit.kind)].sum += unit.share();
    ++shares_[at(unit.kind)].units;
  }
}

void PlacementState::change_room(Index unit, std::int64_t mib) {
  UnitState& now = units_[at(unit)];
  const std::int64_t before = now.share();
  now.room_mib += mib;
  if (now.is_counted) shares_[at(now.kind)].sum += now.share() - before;
}

void PlacementState::load_sets() {
  for (const SetRef& ref : inventory_->sets()) {
    SetState set;
    for (const DiskWish& wish : ref.demand->shape.disks) {
      WishedDisk disk{wish.size_mib, std::vector<bool>(kinds_.size())};
      for (std::size_t k = 0; k < kinds_.size(); ++k)
        disk.kinds[k] = matches(wish.kind, kinds_[k]);
      set.disks.push_back(std::move(disk));
    }
    for (const Host& host : inventory_->hosts()) {
      set.is_eligible.push_back(has_labels(host, ref.demand->hosts));
      if (set.is_eligible.back()) ++set.eligible_hosts;
    }
    if (ref.demand->exact) {
      const CountPerLabel& exact = *ref.demand->exact;
      for (const auto& [value, count] : exact.counts) {
        set.exact_values.push_back(value);
        set.exact_target.push_back(count);
      }
      set.exact_count.assign(set.exact_values.size(), 0);
      for (const Host& host : inventory_->hosts()) {
        const auto label = host.labels.find(exact.label);
        const auto value =
            label == host.labels.end()
                ? set.exact_values.end()
                : std::find(set.exact_values.begin(), set.exact_values.end(), label->second);
        const bool is_counted = value != set.exact_values.end();
        set.exact_value.push_back(is_counted ? static_cast<Index>(value - set.exact_values.begin())
                                             : kNone);
      }
    }
    sets_.push_back(std::move(set));
  }
}

void PlacementState::load_groups() {
  for (const Scope& scope : inventory_->scopes()) {
    ScopeState state;
    state.counts.assign(static_cast<std::size_t>(scope.domains), 0);
    const std::size_t domains = inventory_->physical()[at(scope.physical)].names.size();
    state.on_physical.resize(domains);
    state.groups_on_physical.assign(domains, 0);
    scopes_.push_back(std::move(state));
  }
  std::vector<PlacedGroup> loaded;
  loaded.reserve(inventory_->groups().size());
  for (std::size_t g = 0; g < inventory_->groups().size(); ++g) {
    const Group& group = inventory_->groups()[g];
    PlacedGroup placed;
    placed.id = group.id;
    placed.host = inventory_->host_of(static_cast<Index>(g));
    placed.scope = inventory_->scope_of(static_cast<Index>(g));
    placed.set = inventory_->set_of(static_cast<Index>(g));
    placed.cpu_milli = group.cpu_milli;
    placed.memory_mib = group.memory_mib;
    placed.data_mib = data_mib(group);
    placed.servers = group.servers;
    placed.slot = group.port_slot;
    placed.is_removing = group.is_removing;
    const bool has_zone =
        inventory_->scopes()[at(placed.scope)].domains > 0 && !group.fault_domain.empty();
    placed.domain = has_zone ? domain_id(placed.scope, group.fault_domain)
                             : own_zone(placed.scope, placed.host);
    for (const PlacedDisk& disk : group.disks) {
      DiskAt where{kNone, std::max(disk.size_mib, disk.used_mib)};
      const HostState& host = hosts_[at(placed.host)];
      for (Index u = host.unit_begin; u < host.unit_end; ++u) {
        if (kinds_[at(units_[at(u)].kind)] == disk.unit) where.unit = u;
      }
      // The unit's reported free space already lacks what the group wrote; add() takes the whole
      // disk.
      if (where.unit != kNone) units_[at(where.unit)].room_mib += disk.used_mib;
      placed.disks.push_back(where);
    }
    loaded.push_back(std::move(placed));
  }
  // A snapshot may say that groups have written more than is missing from the unit.
  for (UnitState& unit : units_)
    unit.room_mib = std::min(unit.room_mib, unit.total_mib);
  load_shares();
  groups_.reserve(loaded.size());
  for (PlacedGroup& placed : loaded)
    add(std::move(placed));
}

Index PlacementState::physical_of(Index scope, Index host) const {
  const Scope& where = inventory_->scopes()[at(scope)];
  return inventory_->physical()[at(where.physical)].domain_of[at(host)];
}

void PlacementState::shuffle(std::uint64_t seed) {
  Random random(seed);
  ranks_.resize(hosts_.size());
  std::iota(ranks_.begin(), ranks_.end(), 0);
  for (std::size_t i = ranks_.size(); i > 1; --i)
    std::swap(ranks_[i - 1], ranks_[random.below(i)]);
}

Index PlacementState::add(PlacedGroup group) {
  charge(group, 1);
  count(group, 1);
  groups_.push_back(std::move(group));
  return static_cast<Index>(groups_.size() - 1);
}

void PlacementState::take_out(Index group) {
  PlacedGroup& placed = groups_[at(group)];
  FDBPACK_CHECK(placed.is_present);
  charge(placed, -1);
  count(placed, -1);
  placed.is_present = false;
}

void PlacementState::put_back(Index group) {
  PlacedGroup& placed = groups_[at(group)];
  FDBPACK_CHECK(!placed.is_present);
  placed.is_present = true;
  charge(placed, 1);
  count(placed, 1);
}

void PlacementState::drop_last() {
  FDBPACK_CHECK(!groups_.empty() && !groups_.back().is_present);
  groups_.pop_back();
}

void PlacementState::mark_removing(Index group, bool is_removing) {
  PlacedGroup& placed = groups_[at(group)];
  if (placed.is_removing == is_removing) return;
  if (placed.is_present && is_removing) count_balance(placed, -1);
  placed.is_removing = is_removing;
  if (placed.is_present && !is_removing) count_balance(placed, 1);
}

void PlacementState::set_closed(Index host, bool is_closed) {
  hosts_[at(host)].is_closed = is_closed;
}

void PlacementState::charge(const PlacedGroup& group, int sign) {
  HostState& host = hosts_[at(group.host)];
  host.cpu_free -= sign * group.cpu_milli;
  host.memory_free -= sign * group.memory_mib;
  for (const DiskAt& disk : group.disks) {
    if (disk.unit != kNone) change_room(disk.unit, -sign * disk.size_mib);
  }
  if (sign > 0) {
    take_slots(host.slots, group.slot, group.slot + group.servers);
  } else {
    free_slots(host.slots, group.slot, group.slot + group.servers);
  }
}

void PlacementState::count(const PlacedGroup& group, int sign) {
  if (!group.is_removing) count_balance(group, sign);
  const Index physical = physical_of(group.scope, group.host);
  if (physical == kNone) return;
  ScopeState& scope = scopes_[at(group.scope)];
  scope.groups_on_physical[at(physical)] += sign;
  std::vector<DomainCount>& here = scope.on_physical[at(physical)];
  const auto found = std::find_if(here.begin(), here.end(), [&](const DomainCount& entry) {
    return entry.domain == group.domain;
  });
  if (found == here.end()) {
    here.push_back({group.domain, sign});
    return;
  }
  found->groups += sign;
  if (found->groups == 0) here.erase(found);
}

void PlacementState::count_balance(const PlacedGroup& group, int sign) {
  ScopeState& scope = scopes_[at(group.scope)];
  scope.groups += sign;
  if (group.domain >= 0 && at(group.domain) < scope.counts.size())
    scope.counts[at(group.domain)] += sign;
  if (group.set == kNone) return;
  SetState& set = sets_[at(group.set)];
  set.groups += sign;
  if (set.exact_value.empty()) return;
  const Index value = set.exact_value[at(group.host)];
  if (value != kNone) set.exact_count[at(value)] += sign;
}

int PlacementState::free_slot(Index host, int servers) const {
  int next = 0;
  for (const SlotRange& range : hosts_[at(host)].slots) {
    if (range.begin - next >= servers) break;
    next = std::max(next, range.end);
  }
  // Asked for a gap too: slots in use may be beyond what the host has by now.
  return next + servers <= inventory_->hosts()[at(host)].port_slots ? next : kNone;
}

bool PlacementState::is_slot_free(Index host, int slot, int servers) const {
  const std::vector<SlotRange>& taken = hosts_[at(host)].slots;
  return slot + servers <= inventory_->hosts()[at(host)].port_slots &&
         std::none_of(taken.begin(), taken.end(), [&](const SlotRange& range) {
           return range.begin < slot + servers && slot < range.end;
         });
}

int PlacementState::domain_id(Index scope, const std::string& zone) {
  const int number = domain_number(inventory_->scopes()[at(scope)].class_name, zone);
  if (number >= 0) return number;
  std::map<std::string, int>& foreign = scopes_[at(scope)].foreign;
  return foreign.try_emplace(zone, kForeignZone + static_cast<int>(foreign.size())).first->second;
}

std::string PlacementState::domain_text(Index scope, int domain) const {
  const Scope& where = inventory_->scopes()[at(scope)];
  if (domain < kPhysicalZone) return domain_name(where.class_name, domain);
  if (domain < kForeignZone)
    return inventory_->physical()[at(where.physical)].names[at(domain - kPhysicalZone)];
  for (const auto& [zone, number] : scopes_[at(scope)].foreign) {
    if (number == domain) return zone;
  }
  return "?";
}

int PlacementState::own_zone(Index scope, Index host) {
  const Index physical = physical_of(scope, host);
  if (physical != kNone) return kPhysicalZone + physical;
  return domain_id(scope, inventory_->hosts()[at(host)].id);
}

}  // namespace fdbpack::place
