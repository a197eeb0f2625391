// SPDX-License-Identifier: Apache-2.0
//
// Which hosts can be maintained together. Two hosts may be down at the same time when, for every
// cluster they both serve, one of them takes no fault domain down that the other does not take down
// anyway. So a wave never takes more fault domains of a cluster than its worst host does alone;
// with logical domains that is whole domains at a time.
#pragma once

#include "fdbpack/place/inventory.hpp"

#include <string>
#include <vector>

namespace fdbpack::place {

struct WavesOptions {
  int hosts_max = 0;  // in one wave; 0: no limit
};

struct Wave {
  std::vector<std::string> hosts;  // by ID
  std::vector<std::string> zones;  // cluster/zone that are down in this wave, sorted
};

// Largest first. Every host is in exactly one wave.
[[nodiscard]] std::vector<Wave> waves(const Inventory& inventory, const WavesOptions& options);

}  // namespace fdbpack::place
