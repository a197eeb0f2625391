// SPDX-License-Identifier: Apache-2.0
//
// What placement needs of a cluster's spec.
#pragma once

#include "fdbpack/model/cluster_spec.hpp"
#include "fdbpack/place/fleet.hpp"

namespace fdbpack::place {

// A set with `diskMiB` gets one disk of its storage unit, any file unit when it names none. A set
// without asks for no disk.
[[nodiscard]] ClusterDemand demand_of(const model::ClusterSpec& spec);

}  // namespace fdbpack::place
