// SPDX-License-Identifier: Apache-2.0
#include "assignment.hpp"

#include "fdbpack/place/fault_domains.hpp"

#include <algorithm>

namespace fdbpack::place {
namespace {

constexpr std::int64_t kWorkMax = 20'000'000;  // groups counted over all assignments

std::size_t at(Index index) {
  return static_cast<std::size_t>(index);
}

// How many groups of the set each host takes when nothing but the host itself limits them.
std::vector<int> room_per_host(Planner& planner, const Want& want, int groups_max) {
  const PlacementState& state = planner.state();
  std::vector<int> out(state.hosts().size());
  for (std::size_t h = 0; h < out.size(); ++h) {
    const auto host = static_cast<Index>(h);
    const std::size_t mark = planner.mark();
    ConstraintSet breached;
    while (out[h] < groups_max && !check_fit(state, want.set, host, {}, breached)) {
      Decision decision = planner.make_decision(want, 0, host);
      planner.accept(decision);
      ++out[h];
    }
    planner.rollback(mark);
  }
  return out;
}

class Assignment {
 public:
  Assignment(Planner& planner, const Want& want, int groups_max)
      : planner_(planner),
        want_(want),
        groups_max_(groups_max),
        scope_(planner.state().inventory().sets()[at(want.set)].scope),
        demand_(planner.state().inventory().scopes()[at(scope_)]),
        room_(static_cast<std::size_t>(demand_.domains)) {
    const PlacementState& state = planner.state();
    per_host_ = room_per_host(planner, want, groups_max);
    const PhysicalView& view = state.inventory().physical()[at(demand_.physical)];
    owner_.assign(view.names.size(), kNone);
    for (std::size_t p = 0; p < view.names.size(); ++p) {
      int room = 0;
      for (const Index host : view.members[p])
        room += per_host_[at(host)];
      const std::vector<DomainCount>& here = state.scopes()[at(scope_)].on_physical[p];
      if (room == 0 || here.size() > 1) continue;
      if (here.empty()) {
        free_.push_back({static_cast<Index>(p), room});
      } else if (here.front().domain < demand_.domains) {
        owner_[p] = here.front().domain;
        room_[at(here.front().domain)] += room;
      }
    }
  }

  // Whether all assignments can be tried.
  [[nodiscard]] bool is_small() const {
    std::int64_t work = 1;
    for (const Free& one : free_)
      work += one.room;
    for (const int room : room_)
      work += room;
    for (std::size_t i = 0; i < free_.size() && work <= kWorkMax; ++i)
      work *= demand_.domains;
    return work <= kWorkMax;
  }

  // The most groups that any assignment holds; owner_ is that assignment.
  int solve() {
    best_owner_ = owner_;
    descend(0);
    owner_ = best_owner_;
    return best_;
  }

  // Places the groups of the best assignment.
  std::vector<int> carry_out() {
    const PlacementState& state = planner_.state();
    const PhysicalView& view = state.inventory().physical()[at(demand_.physical)];
    std::vector<std::vector<Index>> hosts(static_cast<std::size_t>(demand_.domains));
    for (std::size_t p = 0; p < owner_.size(); ++p) {
      for (const Index host : view.members[p]) {
        if (owner_[p] != kNone && per_host_[at(host)] > 0) hosts[at(owner_[p])].push_back(host);
      }
    }
    std::vector<int> out(state.hosts().size());
    for (int placed = 0; placed < best_; ++placed) {
      for (const int domain : planner_.domain_order(scope_)) {
        std::vector<Index>& left = hosts[at(domain)];
        if (left.empty()) continue;
        const Index host = left.front();
        Decision decision = planner_.make_decision(want_, domain, host);
        planner_.accept(decision);
        if (++out[at(host)] == per_host_[at(host)]) left.erase(left.begin());
        break;
      }
    }
    return out;
  }

 private:
  struct Free {
    Index physical = kNone;
    int room = 0;
  };

  // What fits when each logical domain has so much room: always into the least full, and none may
  // be more than `max` says, which grows with the number of groups.
  [[nodiscard]] int count() const {
    std::vector<int> counts = planner_.state().scopes()[at(scope_)].counts;
    std::vector<int> room = room_;
    int groups = planner_.state().scopes()[at(scope_)].groups;
    for (int placed = 0; placed < groups_max_; ++placed, ++groups) {
      const int max =
          domain_bounds(std::max(demand_.desired_groups, groups + 1), demand_.domains).max;
      int least = kNone;
      for (int k = 0; k < demand_.domains; ++k) {
        if (room[at(k)] == 0 || counts[at(k)] >= max) continue;
        if (least == kNone || counts[at(k)] < counts[at(least)]) least = k;
      }
      if (least == kNone) return placed;
      --room[at(least)];
      ++counts[at(least)];
    }
    return groups_max_;
  }

  void descend(std::size_t i) {
    if (i == free_.size()) {
      const int here = count();
      if (here <= best_) return;
      best_ = here;
      best_owner_ = owner_;
      return;
    }
    for (int k = 0; k < demand_.domains; ++k) {
      owner_[at(free_[i].physical)] = k;
      room_[at(k)] += free_[i].room;
      descend(i + 1);
      room_[at(k)] -= free_[i].room;
    }
  }

  Planner& planner_;
  const Want& want_;
  int groups_max_;
  Index scope_;
  const Scope& demand_;
  std::vector<int> per_host_;
  std::vector<int> room_;   // by logical domain
  std::vector<Free> free_;  // physical domains that carry none
  std::vector<int> owner_;  // by physical domain: the logical one
  std::vector<int> best_owner_;
  int best_ = 0;
};

}  // namespace

bool has_assignments(const Inventory& inventory, Index set) {
  constexpr std::size_t kPhysicalMax = 24;
  const Scope& scope = inventory.scopes()[at(inventory.sets()[at(set)].scope)];
  return scope.domains > 1 && inventory.physical()[at(scope.physical)].names.size() <= kPhysicalMax;
}

std::optional<std::vector<int>> fill_by_assignment(Planner& planner, const Want& want, int at_least,
                                                   int groups_max) {
  Assignment assignment(planner, want, groups_max);
  if (!assignment.is_small() || assignment.solve() <= at_least) return std::nullopt;
  return assignment.carry_out();
}

}  // namespace fdbpack::place
