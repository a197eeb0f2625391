// SPDX-License-Identifier: Apache-2.0
//
// How much more fits. The forecast places groups of a set one after the other, by the same rules as
// for real, until no host can take one without breaking a preference; then it asks each host why.
//
//   more           groups that fit
//   per value      of a label, e.g. how many in each AZ
//   stops          how many of the set's hosts each constraint refuses in the end: what runs out
//   stranded       what is left on hosts that are full by something else
//
// survive(): are the groups of a lost physical domain placed again on what remains?
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/place/planner.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace fdbpack::place {

struct CapacityRequest {
  std::string cluster;
  std::string process_class;
  std::string set = "default";
  std::string label{};  // counts are given per value of this label; empty: they are not
  int groups_max = 1'000'000;
};

struct Stop {
  Constraint constraint = Constraint::storage_room;
  int hosts = 0;
};

struct Stranded {
  std::string resource;     // "cpu", "memory" or a storage unit
  std::int64_t amount = 0;  // millicores or MiB
  int hosts = 0;
};

struct Capacity {
  int have = 0;
  int want = 0;
  int more = 0;
  std::map<std::string, int> per_value;
  std::vector<Stop> stops;  // most hosts first
  std::vector<Stranded> stranded;
  bool is_limited = false;  // stopped at groups_max
};
// Leaves `planner` as it was.
[[nodiscard]] Result<Capacity> capacity(Planner& planner, const CapacityRequest& request);

struct Loss {
  std::string domain;
  int groups = 0;    // on it
  int unplaced = 0;  // of them, without a new host
  int violations = 0;
  std::string first_unplaced;  // cluster/id
  std::string why;             // "3 by cpu, 1 by storage_room"
};
// Loses one domain of `label` ("host" or a label) after the other, or only `domain` when it is not
// empty. `on_loss` is called after each, for somebody who waits.
[[nodiscard]] Result<std::vector<Loss>> survive(
    Planner& planner, const std::string& label, const std::string& domain,
    const std::function<void(std::size_t done, std::size_t all)>& on_loss = {});

}  // namespace fdbpack::place
