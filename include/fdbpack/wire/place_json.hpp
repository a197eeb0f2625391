// SPDX-License-Identifier: Apache-2.0
//
// The answers of placement as JSON.
#pragma once

#include "fdbpack/place/affinity.hpp"
#include "fdbpack/place/capacity.hpp"
#include "fdbpack/place/evacuate.hpp"
#include "fdbpack/place/htools/balance.hpp"
#include "fdbpack/place/plan.hpp"
#include "fdbpack/place/rebalance.hpp"
#include "fdbpack/place/waves.hpp"
#include "fdbpack/wire/json_value.hpp"

#include <vector>

namespace fdbpack::wire {

// Explanations are put into words with the state they were made on.
[[nodiscard]] JsonValue to_json(const place::PlacementState& state, const place::FleetPlan& plan);
[[nodiscard]] JsonValue to_json(const place::PlacementState& state,
                                const place::Evacuation& evacuation);
[[nodiscard]] JsonValue to_json(const place::PlacementState& state, const place::Explanation& why);
[[nodiscard]] JsonValue to_json(const place::PlacementState& state,
                                const place::Rebalance& rebalance);
[[nodiscard]] JsonValue to_json(const place::htools::BalanceResult& result);
[[nodiscard]] JsonValue to_json(const place::Capacity& capacity,
                                const std::vector<place::Loss>& losses);
[[nodiscard]] JsonValue to_json(const std::vector<place::Wave>& waves);
[[nodiscard]] JsonValue to_json(const place::PodPlacement& placement);

}  // namespace fdbpack::wire
