// SPDX-License-Identifier: Apache-2.0
#include "candidate_index.hpp"

#include <algorithm>
#include <limits>

namespace fdbpack::place {
namespace {

constexpr int kEmpty = -1;
constexpr int kSeveral = std::numeric_limits<int>::max();

std::size_t at(Index index) {
  return static_cast<std::size_t>(index);
}

// std::push_heap keeps the largest first; ours is the smallest.
constexpr auto kWorse = [](const auto& a, const auto& b) {
  return a.utilisation != b.utilisation ? a.utilisation > b.utilisation : a.host > b.host;
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
  Heap& heap = buckets_[Key{value, occupant}];
  heap.push_back({utilisation_after(state, set_, host), host, version});
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

std::optional<CandidateIndex::Found> CandidateIndex::best_for_value(Index value, int domain) {
  if (has_domains_) {
    for (const int occupant : {domain, kEmpty}) {
      const auto bucket = buckets_.find(Key{value, occupant});
      if (bucket == buckets_.end()) continue;
      if (const Entry* entry = top(bucket->second))
        return Found{occupant == kEmpty ? 1 : 0, *entry};
    }
    return std::nullopt;
  }
  for (auto bucket = buckets_.lower_bound(Key{value, 0});
       bucket != buckets_.end() && bucket->first.value == value;) {
    if (const Entry* entry = top(bucket->second)) return Found{bucket->first.occupant, *entry};
    bucket = buckets_.erase(bucket);
  }
  return std::nullopt;
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
    const std::optional<Found> found = best_for_value(value, domain);
    if (!found) continue;
    const auto key = [](int lack, const Found& f) {
      return std::tuple(lack, f.spread, f.entry.utilisation, f.entry.host);
    };
    if (best && key(best_shortfall, *best) < key(shortfall, *found)) continue;
    best = found;
    best_shortfall = shortfall;
  }
  return best ? best->entry.host : kNone;
}

}  // namespace fdbpack::place
