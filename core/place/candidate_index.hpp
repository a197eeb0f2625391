// SPDX-License-Identifier: Apache-2.0
//
// Finds the best host for a group of one set without looking at every host. Groups of a set are
// alike, so each host is judged once per set and again only when something on it changes.
//
//   set ── buckets by (value of the exact label, what is on the physical domain)
//            └── heap of hosts that fit, least utilised first
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
    std::int64_t utilisation = 0;
    Index host = kNone;
    std::uint32_t version = 0;
  };
  using Heap = std::vector<Entry>;
  struct Key {
    Index value = 0;
    int occupant = 0;
    auto operator<=>(const Key&) const = default;
  };
  struct Found {
    int spread = 0;
    Entry entry;
  };

  [[nodiscard]] int occupant_of(const PlacementState& state, Index physical) const;
  [[nodiscard]] const Entry* top(Heap& heap);
  [[nodiscard]] std::optional<Found> best_for_value(Index value, int domain);

  Index set_;
  Index scope_;
  bool has_domains_;
  std::map<Key, Heap> buckets_;
  std::vector<int> occupants_;           // by physical domain, as the buckets have it
  std::vector<std::uint32_t> versions_;  // by host; odd while the host is in a bucket
};

}  // namespace fdbpack::place
