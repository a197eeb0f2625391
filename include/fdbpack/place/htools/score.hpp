// SPDX-License-Identifier: Apache-2.0
//
// The cluster score of hbal, hail and hspace 3.0.2: a weighted sum of 20 metrics over the nodes of
// one group. Deviations are population standard deviations over the online nodes. When a node lists
// storage units, free_disk_cv is the metric of the storage-unit design instead, with the same
// weight.
#pragma once

#include "fdbpack/place/htools/cluster.hpp"

#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fdbpack::place::htools {

inline constexpr std::size_t kMetricCount = 20;
struct MetricInfo {
  std::string_view name;
  double weight;
};
inline constexpr std::array<MetricInfo, kMetricCount> kMetrics = {{
    {"free_mem_cv", 0.5},
    {"free_disk_cv", 0.5},
    {"n1_cnt", 1},
    {"reserved_mem_cv", 1},
    {"offline_all_cnt", 4},
    {"offline_pri_cnt", 16},
    {"vcpu_ratio_cv", 0.5},
    {"cpu_load_cv", 1},
    {"mem_load_cv", 1},
    {"disk_load_cv", 1},
    {"net_load_cv", 1},
    {"pri_tags_score", 2},
    {"spindles_cv", 0.5},
    {"free_mem_cv_forth", 0.5},
    {"free_disk_cv_forth", 0.5},
    {"vcpu_ratio_cv_forth", 0.5},
    {"spindles_cv_forth", 0.5},
    {"location_score", 1},
    {"location_exclusion_score", 1},
    {"reserved_mem_rtotal", 0.25},
}};

struct Score {
  std::array<double, kMetricCount> metrics{};
  [[nodiscard]] double overall() const;
};

// A node with everything that runs on it counted in.
struct NodeLoad {
  std::int64_t unallocated = 0;  // memory nobody has
  std::int64_t reserved = 0;     // memory kept for the failover of the worst peer
  bool fails_n1 = false;
  int primaries = 0;
  int secondaries = 0;
  std::int64_t vcpus = 0;         // with the node's own
  std::int64_t vcpus_forth = 0;   // and forthcoming instances
  std::int64_t memory_forth = 0;  // free, forthcoming instances taken off
  double disk_share = 0;          // free
  double disk_share_forth = 0;
  double spindles = 0;
  double spindles_forth = 0;
  int load = 0;                     // primaries that count, or 0 with --ignore-dynu
  int disk_load = 0;                // and secondaries
  std::map<std::string, int> tags;  // exclusion tags of primaries
  int location_score = 0;
};

// What the cluster's tags mean for its nodes and instances.
struct TagRules {
  std::vector<std::set<std::string>> locations;  // by node
  std::vector<std::set<std::string>>
      migration;  // by node: must be a subset of the target's `receives`
  std::vector<std::set<std::string>> receives;      // by node
  std::vector<std::vector<std::string>> exclusion;  // by instance
  std::vector<std::set<std::string>> desired;       // by instance
};
[[nodiscard]] TagRules tag_rules(const Cluster& cluster);

struct ScoreOptions {
  bool ignore_dynu = false;
};
[[nodiscard]] std::vector<NodeLoad> load_nodes(const Cluster& cluster, const TagRules& tags,
                                               const ScoreOptions& options);

// Over `nodes`. 0 when none of them is online, as for hbal.
[[nodiscard]] Score score(const Cluster& cluster, const std::vector<std::int32_t>& nodes,
                          const ScoreOptions& options);

// Mean over kinds of units of the sample standard deviation of their free share; the online nodes
// of `nodes`.
[[nodiscard]] double storage_metric(const Cluster& cluster, const std::vector<std::int32_t>& nodes);

}  // namespace fdbpack::place::htools
