// SPDX-License-Identifier: Apache-2.0
//
// Step by step a search may send a group to one host and later on to another, or home again. Each
// move copies its data, so a plan sends every group straight to where it ends.
//
//   a: h1 -> h2, b: h3 -> h1, a: h2 -> h4     becomes     b: h3 -> h1, a: h1 -> h4
//   a: h1 -> h2, a: h2 -> h1                  becomes     nothing
#pragma once

#include "fdbpack/place/planner.hpp"

#include <optional>
#include <vector>

namespace fdbpack::place {

struct MovedGroup {
  Index group = kNone;  // that is replaced
  Index made = kNone;   // its replacement
  Decision decision;    // where that is
};
using MoveStep = std::vector<MovedGroup>;  // one group, or the two of a swap

// The same result with each group moved once, at the time of its last move; nothing when no group
// moves twice. `state` has the steps carried out. Whether there is room for a step while the old
// group is still at home is for the caller to see.
[[nodiscard]] std::optional<std::vector<MoveStep>> merge_moves(const PlacementState& state,
                                                               const std::vector<MoveStep>& steps);

}  // namespace fdbpack::place
