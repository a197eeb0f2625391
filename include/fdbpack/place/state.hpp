// SPDX-License-Identifier: Apache-2.0
//
// The working copy of a fleet that decisions are tried on. Dense indices and counters, so that
// adding or removing a group costs the same on 10 hosts and on 10,000.
//
//   host ── units (room), CPU, memory, taken port slots
//   scope = (cluster, class)
//     ├── groups per logical domain           balance; without groups marked for removal
//     ├── domains on each physical domain     separation; with them, they are still there
//     └── groups on each physical domain      spread
//   set ── groups per value of its exact label
//
// Owned by one caller at a time; copyable, so a caller may try something on a copy.
#pragma once

#include "fdbpack/place/inventory.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fdbpack::place {

struct UnitState {
  Index kind = kNone;   // index in PlacementState::kinds()
  Index scale = kNone;  // index in PlacementState::scales()
  std::int64_t total_mib = 0;
  std::int64_t room_mib = 0;  // free and promised to nobody; below 0 when capacity shrank
  bool is_counted = false;    // in the shares of its kind

  [[nodiscard]] std::int64_t share() const {
    return total_mib > 0 ? room_mib * 1'000'000 / total_mib : 0;
  }
};

// Units of a kind and of about one size. What a disk does to the deviation of free shares is the
// stronger the smaller its unit: `times` is how much, in kScaleOne, beside the largest of the kind.
inline constexpr std::int64_t kScaleOne = 32;
struct UnitScale {
  Index kind = kNone;
  std::int64_t times = kScaleOne;

  auto operator<=>(const UnitScale&) const = default;
};

// Free shares of the units of one kind, in millionths, on hosts that are up and not draining.
struct KindShares {
  std::int64_t sum = 0;
  std::int64_t units = 0;

  [[nodiscard]] std::int64_t mean() const { return units > 0 ? sum / units : 0; }
};

struct SlotRange {
  int begin = 0;
  int end = 0;
};

struct HostState {
  std::int64_t cpu_free = 0;
  std::int64_t memory_free = 0;
  Index unit_begin = 0;
  Index unit_end = 0;
  bool is_closed = false;        // takes nothing new while something is tried, e.g. its evacuation
  std::vector<SlotRange> slots;  // taken, sorted
};

struct DiskAt {
  Index unit = kNone;  // index in PlacementState::units(); kNone when the unit vanished
  std::int64_t size_mib = 0;
};

struct PlacedGroup {
  std::string id;
  Index host = kNone;
  Index scope = kNone;
  Index set = kNone;
  int domain = kNone;  // see PlacementState::domain_id()
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  std::int64_t data_mib = 0;
  int servers = 1;
  int slot = 0;
  std::vector<DiskAt> disks;
  bool is_removing = false;
  bool is_present = true;
};

struct DomainCount {
  int domain = 0;
  int groups = 0;
};

struct ScopeState {
  std::vector<int> counts;  // groups per logical domain 0 .. domains-1
  int groups = 0;           // not marked for removal
  std::vector<std::vector<DomainCount>> on_physical;
  std::vector<int> groups_on_physical;
  std::map<std::string, int> foreign;  // zones that are neither <class>-<k> nor a physical domain
};

// What a set asks of a host, resolved against this fleet.
struct WishedDisk {
  std::int64_t size_mib = 0;
  std::vector<bool> kinds;  // by kind index: can hold it
};

struct SetState {
  std::vector<WishedDisk> disks;
  std::vector<bool> is_eligible;  // by host: has the set's labels
  int eligible_hosts = 0;
  std::vector<Index> exact_value;         // by host: index in exact_values, kNone outside
  std::vector<std::string> exact_values;  // sorted
  std::vector<int> exact_target;
  std::vector<int> exact_count;
  int groups = 0;
};

class PlacementState {
 public:
  explicit PlacementState(const Inventory& inventory);

  [[nodiscard]] const Inventory& inventory() const { return *inventory_; }
  [[nodiscard]] const std::vector<UnitKind>& kinds() const { return kinds_; }
  [[nodiscard]] const std::vector<UnitState>& units() const { return units_; }
  [[nodiscard]] const std::vector<UnitScale>& scales() const { return scales_; }
  [[nodiscard]] const std::vector<KindShares>& shares() const { return shares_; }  // by kind
  [[nodiscard]] const std::vector<HostState>& hosts() const { return hosts_; }
  // The inventory's groups keep their index; new ones come after them.
  [[nodiscard]] const std::vector<PlacedGroup>& groups() const { return groups_; }
  [[nodiscard]] const std::vector<ScopeState>& scopes() const { return scopes_; }
  [[nodiscard]] const std::vector<SetState>& sets() const { return sets_; }
  [[nodiscard]] Index physical_of(Index scope, Index host) const;

  // Which of two hosts that are equally good is taken: the lower rank. That is the order of IDs,
  // or after shuffle() another one, the same for the same seed.
  [[nodiscard]] Index rank(Index host) const {
    return ranks_.empty() ? host : ranks_[Inventory::to_size(host)];
  }
  [[nodiscard]] bool is_shuffled() const { return !ranks_.empty(); }
  void shuffle(std::uint64_t seed);

  Index add(PlacedGroup group);  // the index it got
  void take_out(Index group);    // its room is free again
  void put_back(Index group);    // after take_out()
  void drop_last();              // undoes add(): the last group, which was taken out
  void mark_removing(Index group, bool is_removing);
  void set_closed(Index host, bool is_closed);

  // The lowest slot with `servers` free ones in a row, or kNone.
  [[nodiscard]] int free_slot(Index host, int servers) const;
  [[nodiscard]] bool is_slot_free(Index host, int slot, int servers) const;
  // Logical domain `<class>-<k>` is k; any other zone of the scope gets a number of its own.
  [[nodiscard]] int domain_id(Index scope, const std::string& zone);
  // The zone of a group when logical domains are off: its physical domain.
  [[nodiscard]] int own_zone(Index scope, Index host);
  [[nodiscard]] std::string domain_text(Index scope, int domain) const;

 private:
  void load_units();
  void load_scales();
  void load_shares();
  void change_room(Index unit, std::int64_t mib);
  void load_sets();
  void load_groups();
  void charge(const PlacedGroup& group, int sign);
  void count(const PlacedGroup& group, int sign);
  void count_balance(const PlacedGroup& group, int sign);

  const Inventory* inventory_;
  std::vector<UnitKind> kinds_;
  std::vector<UnitState> units_;
  std::vector<UnitScale> scales_;
  std::vector<KindShares> shares_;
  std::vector<HostState> hosts_;
  std::vector<Index> ranks_;  // by host; empty: the host's index
  std::vector<PlacedGroup> groups_;
  std::vector<ScopeState> scopes_;
  std::vector<SetState> sets_;
};

// The class keeps its data in fewer physical domains than the redundancy mode needs, so that the
// database cannot make all copies. Without logical domains only: with them, each group that shares
// its physical domain is reported as such.
[[nodiscard]] std::optional<Violation> redundancy_violation(const PlacementState& state,
                                                            Index scope);

// Logical domains with more groups than `max`, or with fewer than `min` although the class has all
// of its groups.
[[nodiscard]] std::vector<Violation> balance_violations(const PlacementState& state, Index scope);

}  // namespace fdbpack::place
