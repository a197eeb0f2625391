// SPDX-License-Identifier: Apache-2.0
//
// Invents fleets and htools clusters of any size, for trying things out and for benchmarks. Same
// options and seed, same fleet.
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/place/fleet.hpp"
#include "fdbpack/place/htools/cluster.hpp"

#include <cstdint>
#include <string>

namespace fdbpack::place {

struct GenerateOptions {
  int hosts = 100;
  int groups_per_host = 5;  // of storage, over all clusters; 0: no storage class at all
  int clusters = 1;
  int domains = 0;  // logical fault domains per class; 0: off
  bool is_required = false;
  int azs = 0;  // 0: three, or as many as there are hosts
  int hosts_per_rack = 20;
  bool is_placed = true;  // false: hosts only, every group is still missing
  std::uint64_t seed = 1;
};
[[nodiscard]] Result<Fleet> generate_fleet(const GenerateOptions& options);

// 128 GiB, 6 TiB and 32 cores per node; instances of 4 to 16 GiB and 2 to 4 vcpus on random nodes.
[[nodiscard]] Result<htools::Cluster> generate_htools(int nodes, int instances_per_node,
                                                      std::uint64_t seed);

}  // namespace fdbpack::place
