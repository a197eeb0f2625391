// SPDX-License-Identifier: Apache-2.0
//
// The scheduling half of the bin-packing design, for process groups that are pods: what Kubernetes
// must know so that pods of one logical fault domain share nodes and pods of two do not.
//
//   label          foundationdb.org/distribution-key = storage-0
//   FDB_ZONE_ID    storage-0
//   affinity       to pods of the cluster with the same key: a preference
//   anti-affinity  to pods of the cluster and class with another key: required, or a preference of
//   full weight
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/place/inventory.hpp"

#include <string>
#include <vector>

namespace fdbpack::place {

inline constexpr const char* kDistributionKey = "foundationdb.org/distribution-key";
inline constexpr const char* kClusterNameLabel = "foundationdb.org/fdb-cluster-name";
inline constexpr const char* kProcessClassLabel = "foundationdb.org/fdb-process-class";

struct PodPlacement {
  std::string cluster;
  std::string process_class;
  std::string zone;
  std::string topology_key;
  bool has_domains = false;  // without, pods of a class only prefer to keep apart, and the zone is
                             // the physical one
  bool is_required = false;
};

// `cluster` may be empty when only one has a group of that ID. "host" as physical domain is the
// node's host name.
[[nodiscard]] Result<PodPlacement> pod_placement(const Inventory& inventory,
                                                 const std::string& cluster,
                                                 const std::string& group);

}  // namespace fdbpack::place
