// SPDX-License-Identifier: Apache-2.0
//
// What brings a fleet from what it has to what its clusters ask for.
//
//   1. check      a class that no placement can satisfy is refused before anything is decided
//   2. shrink     sets with more groups than asked: which go
//   3. balance    logical domains above their maximum, or short while others are not: which are
//   replaced
//   4. place      missing and replacement groups, over all sets and clusters at once; the pickiest
//   first
//   5. search     when that leaves a group without a host or breaks a preference: other choices,
//   within a budget
//   6. settle     a group whose replacement has no host stays; without the others that leave, the
//   next step is decided from 2 again, until there is nothing to do
//
// Applied to its own result, a plan proposes nothing: what had no host before has none then.
#pragma once

#include "fdbpack/place/explanation.hpp"
#include "fdbpack/place/inventory.hpp"
#include "fdbpack/place/metrics.hpp"
#include "fdbpack/place/planner.hpp"

#include <string>
#include <vector>

namespace fdbpack::place {

struct PlanOptions {
  std::string cluster;  // only this one; empty: all
  ConstraintSet relaxed;
  bool has_explanations = true;
  int search_budget = 200'000;  // host verdicts the search may ask for
};

struct NewGroup {
  Group group;
  std::string replaces;  // ID of the group it replaces, or empty
  int step = 1;          // 2: once the groups that leave in step 1 are gone, and so on
  std::vector<Constraint> breached;
  Explanation why;
};

struct Unplaced {
  std::string cluster;
  std::string process_class;
  std::string set;
  std::string id;
  std::string replaces;  // stays where it is for the time being
  std::string cause;     // why that one was to be replaced
  Explanation why;
};

struct Removal {
  std::string cluster;
  std::string id;
  std::string why;

  bool operator==(const Removal&) const = default;
};

struct FleetPlan {
  std::vector<NewGroup> placed;       // in the order they were decided
  std::vector<Unplaced> unplaced;     // what one of them was to replace stays where it is
  std::vector<Removal> replaced;      // have a replacement in `placed`
  std::vector<Removal> removed;       // are not needed any more
  std::vector<Violation> violations;  // of the fleet as it was
  std::vector<Violation> unmet;       // what the fleet still lacks with the plan carried out
  Metrics before;
  Metrics after;
};

// `planner` has the state after the plan; explanations are put into words with it.
[[nodiscard]] Result<FleetPlan> plan(Planner& planner, const PlanOptions& options);

// The group as the fleet will have it.
[[nodiscard]] Group to_group(const PlacementState& state, const Decision& decision);
// The fleet with a plan carried out: groups that were replaced or removed are gone.
[[nodiscard]] Fleet apply(const Fleet& fleet, const FleetPlan& plan);

}  // namespace fdbpack::place
