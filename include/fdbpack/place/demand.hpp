// SPDX-License-Identifier: Apache-2.0
//
// What a cluster asks for, against what there is: whether any placement could satisfy it, and what
// is missing.
#pragma once

#include "fdbpack/place/inventory.hpp"

#include <map>
#include <string>

namespace fdbpack::place {

[[nodiscard]] bool has_labels(const Host& host, const std::map<std::string, std::string>& labels);

// Fails with `precondition` when the fleet cannot satisfy the class whatever is decided: no host
// with a set's labels, fewer groups or physical domains than the redundancy mode (or a required
// separation) needs.
[[nodiscard]] Status check_demand(const Inventory& inventory, Index scope);

}  // namespace fdbpack::place
