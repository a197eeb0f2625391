// SPDX-License-Identifier: Apache-2.0
#include "candidate_index.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace fdbpack::place {
namespace {

constexpr int kEmpty = -1;
constexpr int kSeveral = std::numeric_limits<int>::max();

std::size_t at(Index index) {
  return static_cast<std::size_t>(index);
}

// std::push_heap keeps the largest first; ours is the smallest.
constexpr auto kWorse = [](const auto& a, const auto& b) {
  return a.balance != b.balance ? a.balance > b.balance : a.rank > b.rank;
};

}  // namespace

CandidateIndex::CandidateIndex(const PlacementState& state, Index set)
    : set_(set),
      scope_(state.inventory().sets()[at(set)].scope),
      has_domains_(state.inventory().scopes()[at(scope_)].domains > 0),
      versions_(state.hosts().size(), 0) {
  const std::size_t physical = state.scopes()[at(scope_)].on_physical.size();
  for (std::size_t p = 0; p < physical; ++p) {
    occupants_.push_back(occupant_of(state, static_cast<Index>(p)));
  }
  for (std::size_t h = 0; h < state.hosts().size(); ++h)
    refresh(state, static_cast<Index>(h));
}

int CandidateIndex::occupant_of(const PlacementState& state, Index physical) const {
  const ScopeState& scope = state.scopes()[at(scope_)];
  if (!has_domains_) return scope.groups_on_physical[at(physical)];
  const std::vector<DomainCount>& here = scope.on_physical[at(physical)];
  if (here.empty()) return kEmpty;
  return here.size() == 1 ? here.front().domain : kSeveral;
}

int CandidateIndex::sizes_of(std::vector<Index> scales) {
  const auto found = std::find(sizes_.begin(), sizes_.end(), scales);
  if (found != sizes_.end()) return static_cast<int>(found - sizes_.begin());
  sizes_.push_back(std::move(scales));
  return static_cast<int>(sizes_.size() - 1);
}

void CandidateIndex::refresh(const PlacementState& state, Index host) {
  std::uint32_t& version = versions_[at(host)];
  version += version % 2 == 1 ? 1U : 2U;
  ConstraintSet breached;
  if (check_fit(state, set_, host, {}, breached)) return;
  const SetState& set = state.sets()[at(set_)];
  const Index value = set.exact_value.empty() ? 0 : set.exact_value[at(host)];
  const int occupant = occupants_[at(state.physical_of(scope_, host))];
  if (value == kNone || occupant == kSeveral) return;
  ++version;
  HostCost cost = host_cost(state, set_, host);
  Heap& heap = buckets_[Key{value, occupant, sizes_of(std::move(cost.scales))}];
  heap.push_back({cost.utilisation + cost.storage, host, state.rank(host), version});
  std::push_heap(heap.begin(), heap.end(), kWorse);
}

void CandidateIndex::refresh_physical(const PlacementState& state, Index physical) {
  const int occupant = occupant_of(state, physical);
  if (occupant == occupants_[at(physical)]) return;
  occupants_[at(physical)] = occupant;
  const Scope& scope = state.inventory().scopes()[at(scope_)];
  for (const Index host : state.inventory().physical()[at(scope.physical)].members[at(physical)]) {
    refresh(state, host);
  }
}

const CandidateIndex::Entry* CandidateIndex::top(Heap& heap) {
  while (!heap.empty() && versions_[at(heap.front().host)] != heap.front().version) {
    std::pop_heap(heap.begin(), heap.end(), kWorse);
    heap.pop_back();
  }
  return heap.empty() ? nullptr : &heap.front();
}

// The best over all sizes of units.
std::optional<CandidateIndex::Found> CandidateIndex::best_of(const PlacementState& state,
                                                             Index value, int occupant,
                                                             int spread) {
  std::optional<Found> best;
  for (auto bucket = buckets_.lower_bound(Key{value, occupant, 0});
       bucket != buckets_.end() && bucket->first.value == value &&
       bucket->first.occupant == occupant;) {
    const Entry* entry = top(bucket->second);
    if (entry == nullptr) {
      bucket = buckets_.erase(bucket);
      continue;
    }
    const std::int64_t balance =
        entry->balance + storage_means(state, sizes_[at(bucket->first.sizes)]);
    if (!best || std::tuple(balance, entry->rank) < std::tuple(best->balance, best->rank))
      best = Found{spread, balance, entry->host, entry->rank};
    ++bucket;
  }
  return best;
}

std::optional<CandidateIndex::Found> CandidateIndex::best_for_value(const PlacementState& state,
                                                                    Index value, int domain) {
  if (has_domains_) {
    const auto together = best_of(state, value, domain, 0);
    return together ? together : best_of(state, value, kEmpty, 1);
  }
  while (true) {
    const auto bucket = buckets_.lower_bound(Key{value, 0, 0});
    if (bucket == buckets_.end() || bucket->first.value != value) return std::nullopt;
    const int occupant = bucket->first.occupant;
    // Empty buckets are gone afterwards, so the next one is another.
    if (const auto found = best_of(state, value, occupant, occupant)) return found;
  }
}

Index CandidateIndex::best(const PlacementState& state, int domain) {
  const SetState& set = state.sets()[at(set_)];
  const Index values = set.exact_value.empty() ? 1 : static_cast<Index>(set.exact_values.size());
  std::optional<Found> best;
  int best_shortfall = 0;
  for (Index value = 0; value < values; ++value) {
    const int shortfall =
        set.exact_value.empty() ? 0 : set.exact_count[at(value)] - set.exact_target[at(value)];
    if (!set.exact_value.empty() && shortfall >= 0) continue;
    const std::optional<Found> found = best_for_value(state, value, domain);
    if (!found) continue;
    const auto key = [](int lack, const Found& f) {
      return std::tuple(lack, f.spread, f.balance, f.rank);
    };
    if (best && key(best_shortfall, *best) < key(shortfall, *found)) continue;
    best = found;
    best_shortfall = shortfall;
  }
  return best ? best->host : kNone;
}

}  // namespace fdbpack::place
