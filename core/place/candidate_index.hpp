// SPDX-License-Identifier: Apache-2.0
//
// Finds the best host for a group of one set without looking at every host. Groups of a set are
// alike, so each host is judged once per set and again only when something on it changes.
//
//   set ── buckets by (value of the exact label, what is on the physical domain, sizes of units)
//            └── heap of hosts that fit, best balance first
//
// The storage term needs the means of free shares, which change with every group. Within a bucket
// they are the same for all hosts, so the order of a heap stands; they are added when the best of
// each bucket are compared.
//
// With logical domains "what is on it" is: nothing, exactly one domain, or several. Without, the
// number of groups of the class. An entry whose host was judged again since is stale and is dropped
// when it comes to the top.
#pragma once

#include "fdbpack/place/constraint.hpp"
#include "fdbpack/place/state.hpp"

#include <map>
#include <optional>
#include <vector>

namespace fdbpack::place {

class CandidateIndex {
 public:
  CandidateIndex(const PlacementState& state, Index set);

  [[nodiscard]] Index set() const { return set_; }
  [[nodiscard]] Index scope() const { return scope_; }

  // Call after anything on the host has changed.
  void refresh(const PlacementState& state, Index host);
  // Call after a group of this scope came to or left the physical domain.
  void refresh_physical(const PlacementState& state, Index physical);

  // The best host that breaks no rule and no preference, or kNone. The same host judge() would rank
  // first.
  [[nodiscard]] Index best(const PlacementState& state, int domain);

 private:
  struct Entry {
    std::int64_t balance = 0;  // without the means
    Index host = kNone;
    Index rank = kNone;
    std::uint32_t version = 0;
  };
  using Heap = std::vector<Entry>;
  struct Key {
    Index value = 0;
    int occupant = 0;
    int sizes = 0;  // index in sizes_
    auto operator<=>(const Key&) const = default;
  };
  struct Found {
    int spread = 0;
    std::int64_t balance = 0;
    Index host = kNone;
    Index rank = kNone;
  };
  using Buckets = std::map<Key, Heap>;

  [[nodiscard]] int occupant_of(const PlacementState& state, Index physical) const;
  [[nodiscard]] const Entry* top(Heap& heap);
  [[nodiscard]] std::optional<Found> best_for_value(const PlacementState& state, Index value,
                                                    int domain);
  [[nodiscard]] std::optional<Found> best_of(const PlacementState& state, Index value, int occupant,
                                             int spread);
  [[nodiscard]] int sizes_of(std::vector<Index> scales);

  Index set_;
  Index scope_;
  bool has_domains_;
  Buckets buckets_;
  std::vector<std::vector<Index>> sizes_;  // scales of the units, one per disk
  std::vector<int> occupants_;             // by physical domain, as the buckets have it
  std::vector<std::uint32_t> versions_;    // by host; odd while the host is in a bucket
};

}  // namespace fdbpack::place
