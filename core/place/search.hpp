// SPDX-License-Identifier: Apache-2.0
//
// Placing one group after the other can paint itself into a corner: the only host of a picky group
// is taken by another that could have gone anywhere. This search tries the other choices, depth
// first, best first, until nothing is wrong or the budget is spent. On a handful of hosts it is
// exhaustive.
#pragma once

#include "fdbpack/place/plan.hpp"
#include "fdbpack/place/planner.hpp"

#include <optional>
#include <vector>

namespace fdbpack::place {

// What is wrong with a list of decisions; smaller is better.
struct Fault {
  int unplaced = 0;
  int violations = 0;
  int below_minimum = 0;  // groups that logical domains are short of

  auto operator<=>(const Fault&) const = default;
};

struct Choice {
  std::vector<std::optional<Decision>> decisions;  // one per want
  Fault fault;
};

// One after the other. Leaves `planner` as it was.
[[nodiscard]] Choice choose_greedily(Planner& planner, const std::vector<Want>& wants);
// At least as good as `start`. Leaves `planner` as it was.
[[nodiscard]] Choice search(Planner& planner, const std::vector<Want>& wants, Choice start,
                            int budget);

// The pickiest first: fewest hosts with the set's labels, then the largest disks.
void sort_by_pickiness(const PlacementState& state, std::vector<Want>& wants);

// The two together. Wants that nobody can take even alone are left out of the search and go to the
// end of `wants`.
[[nodiscard]] Choice choose(Planner& planner, std::vector<Want>& wants, int budget);

// Accepts the decision, or says why there is none.
void carry_out(Planner& planner, const Want& want, std::optional<Decision> decision,
               bool has_explanation, std::vector<NewGroup>& placed,
               std::vector<Unplaced>& unplaced);

}  // namespace fdbpack::place
