// SPDX-License-Identifier: Apache-2.0
//
// The sums behind a fleet's score while groups are tried elsewhere.
#pragma once

#include "fdbpack/place/metrics.hpp"
#include "fdbpack/place/planner.hpp"

#include <string>
#include <vector>

namespace fdbpack::place {

// What a step changes; smaller is better.
struct Change {
  int violations = 0;
  int spread = 0;
  double score = 0;  // of the fleet afterwards

  [[nodiscard]] bool is_clean() const { return violations < 0 || (violations == 0 && spread <= 0); }
};

struct Relocation {
  Index group = kNone;
  Index to = kNone;              // a host
  std::string id{};              // of the replacement
  const Decision* as = nullptr;  // units and, if it is free, port slot are these
};

class RebalanceState {
 public:
  explicit RebalanceState(Planner& planner);

  [[nodiscard]] double score() const;
  [[nodiscard]] const std::vector<Index>& movable_on(Index host) const {
    return groups_on_[static_cast<std::size_t>(host)];
  }
  [[nodiscard]] bool is_counted(Index host) const;
  [[nodiscard]] double heat(Index host) const;
  [[nodiscard]] const PlacementState& state() const { return planner_.state(); }

  // Why `to` cannot take a replacement of the group while the group is still there, if so.
  [[nodiscard]] std::optional<Refusal> refusal(Index group, Index to) const;
  // What the move would change, whether or not that is wanted; `to` does not refuse it.
  [[nodiscard]] Change change_of(Index group, Index to) const;
  // Nothing when `to` refuses, or when it would make violations or spread worse.
  [[nodiscard]] std::optional<Change> try_move(Index group, Index to) const;
  [[nodiscard]] std::optional<Change> try_swap(Index a, Index b) const;
  // Whether the replacement fits just as `as` says, while the group and all others are where they
  // are. `has_partner`: of the same class and domain, so that together they change no domain.
  [[nodiscard]] bool can_move(Index group, const Decision& as, bool has_partner) const;
  [[nodiscard]] Want want_for(Index group) const;
  // Carries out one move, or the two of a swap. Units and port slots of all are chosen on the state
  // that was judged, before anything changes: an old group runs until its replacement has the data,
  // so nothing of it is free for the other half of a swap.
  std::vector<Decision> make(const std::vector<Relocation>& moves);

 private:
  // What would change on the hosts and units of a step. Kept between tries to save allocations.
  struct Deltas {
    struct OnHost {
      Index host = kNone;
      std::int64_t cpu = 0;
      std::int64_t memory = 0;
    };
    struct OnUnit {
      Index host = kNone;
      Index unit = kNone;
      std::int64_t disk = 0;
    };
    std::vector<OnHost> hosts;
    std::vector<OnUnit> units;
    std::vector<std::pair<Index, Deviation>> kinds;
  };

  [[nodiscard]] Change domain_change(Index group, Index to) const;
  [[nodiscard]] double score_after() const;
  void take_off(Index group) const;
  void put_on(Index group, Index host) const;
  void change_host(Index host, std::int64_t cpu, std::int64_t memory) const;
  void change_unit(Index host, Index unit, std::int64_t disk) const;
  [[nodiscard]] double cpu_share(Index host, std::int64_t extra) const;
  [[nodiscard]] double memory_share(Index host, std::int64_t extra) const;
  [[nodiscard]] double unit_share(Index unit, std::int64_t extra) const;
  void insert(Index host, int sign);

  Planner& planner_;
  std::vector<std::vector<Index>> groups_on_;
  Deviation cpu_;
  Deviation memory_;
  std::vector<Deviation> kinds_;
  mutable Deltas deltas_;
};

}  // namespace fdbpack::place
