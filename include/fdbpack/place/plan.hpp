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
//
// Applied to its own result, a plan is empty.
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
  std::vector<Constraint> breached;
  Explanation why;
};

struct Unplaced {
  std::string cluster;
  std::string process_class;
  std::string set;
  std::string id;
  std::string replaces;
  Explanation why;
};

struct Removal {
  std::string cluster;
  std::string id;
  std::string why;

  bool operator==(const Removal&) const = default;
};

struct FleetPlan {
  std::vector<NewGroup> placed;  // in the order they were decided
  std::vector<Unplaced> unplaced;
  std::vector<Removal> replaced;      // have a replacement in `placed` or `unplaced`
  std::vector<Removal> removed;       // are not needed any more
  std::vector<Violation> violations;  // of the fleet as it was
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
