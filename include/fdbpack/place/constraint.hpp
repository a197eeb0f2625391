// SPDX-License-Identifier: Apache-2.0
//
// The rules a host must pass to take a process group, in the order they are asked. The first one
// that refuses is the one that is reported, with its numbers.
//
//   host_reachable           an agent answers there
//   host_not_draining        nobody is emptying it
//   host_allowed             the request does not exclude it
//   set_hosts                it has the labels of the set
//   physical_domain          it has the label that names its physical domain
//   exact_count              its AZ (or other label) still lacks groups of the set
//   storage_unit             it has a unit of the wanted kind
//   storage_room             that unit alone has room for the whole disk
//   cpu, memory              what is left is enough
//   port_slot                there are free port slots in a row
//   fault_domain_separation  its physical domain carries no other logical domain of the cluster's
//   class
//
// The last one is hard when the cluster requires it; otherwise a breach is the first thing to avoid
// and is reported. A request may relax rules by name; what was relaxed is shown in the answer.
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/place/state.hpp"

#include <array>
#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace fdbpack::place {

enum class Constraint : std::uint8_t {
  host_reachable,
  host_not_draining,
  host_allowed,
  set_hosts,
  physical_domain,
  exact_count,
  storage_unit,
  storage_room,
  cpu,
  memory,
  port_slot,
  fault_domain_separation,
};
inline constexpr std::size_t kConstraintCount = 12;

[[nodiscard]] std::string_view to_string(Constraint constraint);
[[nodiscard]] Result<Constraint> parse_constraint(std::string_view name);
// A disk that does not fit, or a port that does not exist, cannot be wished away.
[[nodiscard]] bool can_relax(Constraint constraint);

// A set of constraints.
class ConstraintSet {
 public:
  void insert(Constraint constraint) { bits_ |= bit(constraint); }
  [[nodiscard]] bool contains(Constraint constraint) const {
    return (bits_ & bit(constraint)) != 0;
  }
  [[nodiscard]] bool empty() const { return bits_ == 0; }
  bool operator==(const ConstraintSet&) const = default;

 private:
  static std::uint32_t bit(Constraint constraint) {
    return 1u << static_cast<unsigned>(constraint);
  }
  std::uint32_t bits_ = 0;
};

// One group to place.
struct Want {
  Index set = kNone;
  int domain = kNone;      // kNone: the planner chooses (when the cluster has logical domains)
  std::string id;          // of the new group
  Index replaces = kNone;  // index of the group whose place it takes
  int leaves = kNone;      // the planner chooses any domain but this one, which has too many
  ConstraintSet relaxed;
  std::vector<Index> avoid;  // hosts it must not go to, sorted
};

// Why a host was refused. The meaning of the numbers depends on the constraint; reason() puts them
// in words.
struct Refusal {
  Constraint constraint = Constraint::host_reachable;
  std::int64_t need = 0;
  std::int64_t have = 0;
  Index detail = kNone;
};

// What a host is compared by, most important first; smaller is better. Utilisation and storage are
// one term, their sum: neither is bought at any price of the other.
struct Terms {
  int violations = 0;       // broken preferences and relaxed rules
  int exact_shortfall = 0;  // minus what the host's AZ still lacks: the neediest first
  int spread = 0;  // 0: the domain is here already, 1: it is not; without domains: groups here
  std::int64_t utilisation = 0;  // ppm: shares of CPU and memory in use afterwards, added up
  std::int64_t storage = 0;      // ppm: what it does to the storage metric; below 0: more even

  [[nodiscard]] std::int64_t balance() const { return utilisation + storage; }
  std::strong_ordering operator<=>(const Terms& other) const {
    return std::tuple(violations, exact_shortfall, spread, balance()) <=>
           std::tuple(other.violations, other.exact_shortfall, other.spread, other.balance());
  }
  bool operator==(const Terms& other) const { return (*this <=> other) == 0; }
};

struct Verdict {
  std::optional<Refusal> refusal;
  Terms terms;             // when not refused
  ConstraintSet breached;  // what was relaxed or preferred and does not hold
};

// The verdict on one host. `domain` is the logical domain that is meant, kNone without domains.
[[nodiscard]] Verdict judge(const PlacementState& state, const Want& want, int domain, Index host);

// The constraints that depend on the host and set alone, without counting anything across hosts.
[[nodiscard]] std::optional<Refusal> check_fit(const PlacementState& state, Index set, Index host,
                                               const ConstraintSet& relaxed,
                                               ConstraintSet& breached);

// The last two terms, apart from the means of free shares, which change with every group anywhere.
//
//   spread of squares   changes by d^2 (1 - 1/n) - 2 d (x - mean)      x = free share of the unit,
//   storage term        that by 2 d of the kind's largest unit         d = share the disk takes
struct HostCost {
  std::int64_t utilisation = 0;
  std::int64_t storage = 0;   // without the means
  std::vector<Index> scales;  // of the units, one per disk: times the means of their kinds
};
[[nodiscard]] HostCost host_cost(const PlacementState& state, Index set, Index host);
// What is missing in HostCost::storage.
[[nodiscard]] std::int64_t storage_means(const PlacementState& state,
                                         const std::vector<Index>& scales);

// The unit for each disk of the set on this host, each disk on its own: the roomiest that matches,
// or another where that would leave a later disk without one.
[[nodiscard]] std::optional<std::vector<DiskAt>> choose_units(const PlacementState& state,
                                                              Index set, Index host);

// "disk of 15360 MiB does not fit: file:nvme has 10240 MiB free"
[[nodiscard]] std::string reason(const PlacementState& state, const Want& want, int domain,
                                 Index host, const Refusal& refusal);

}  // namespace fdbpack::place
