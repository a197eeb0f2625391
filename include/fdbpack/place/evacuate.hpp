// SPDX-License-Identifier: Apache-2.0
//
// Where the process groups of a host, a physical domain, a set or a logical fault domain go when it
// is emptied. A replacement stays in its set and in its logical domain; the old group stays where
// it is until its data has moved, so room is needed for both.
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/place/plan.hpp"
#include "fdbpack/place/planner.hpp"

#include <string>
#include <vector>

namespace fdbpack::place {

// Exactly one of the four is asked for.
struct EvacuateRequest {
  std::vector<std::string> hosts;
  std::string label;  // a physical domain: hosts with label = value
  std::string value;
  std::string cluster;        // of `set` or `fault_domain`
  std::string process_class;  // of `set`
  std::string set;            // its groups leave the hosts they are on
  std::string fault_domain;   // e.g. storage-1: likewise
  ConstraintSet relaxed;
  bool has_explanations = true;
  int search_budget = 200'000;
};

struct Evacuation {
  std::vector<std::string> hosts;  // that are emptied
  std::vector<NewGroup> placed;
  std::vector<Unplaced> unplaced;     // when there are any, the plan is not complete
  std::vector<std::string> stranded;  // cluster/id of groups whose set the spec no longer has
  std::int64_t data_mib = 0;          // to be copied
};
[[nodiscard]] Result<Evacuation> evacuate(Planner& planner, const EvacuateRequest& request);

}  // namespace fdbpack::place
