// SPDX-License-Identifier: Apache-2.0
//
// With logical domains, how many groups fit depends on which free physical domain goes to which
// logical one: hosts of 5, 3, 1 and 1 groups hold ten in two domains as 5 | 3 + 1 + 1, but nine as
// 5 + 1 | 3 + 1. One after the other finds that only by luck; here every assignment is tried, as
// long as there are few enough.
#pragma once

#include "fdbpack/place/planner.hpp"

#include <optional>
#include <vector>

namespace fdbpack::place {

// There are several logical domains, and few enough physical ones to try all assignments.
[[nodiscard]] bool has_assignments(const Inventory& inventory, Index set);
// When an assignment has room for more than `at_least` groups of the want's set (and no more than
// `groups_max`), they are placed, and how many went to each host is returned. Else nothing is done.
[[nodiscard]] std::optional<std::vector<int>> fill_by_assignment(Planner& planner, const Want& want,
                                                                 int at_least, int groups_max);

}  // namespace fdbpack::place
