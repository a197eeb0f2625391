// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/place/htools/score.hpp"

#include "fdbpack/place/metrics.hpp"

#include <cmath>

namespace fdbpack::place::htools {
namespace {

std::size_t at(std::int32_t index) {
  return static_cast<std::size_t>(index);
}

// The two-pass population deviation: exact where all values are equal.
double deviation(const std::vector<double>& values) {
  if (values.empty()) return 0;
  double sum = 0;
  for (const double value : values)
    sum += value;
  const double mean = sum / static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values)
    squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size()));
}

// What each online node contributes to the metrics that are deviations; the others stay 0.
std::array<double, kMetricCount> deviations_of(const Cluster& cluster, std::size_t n,
                                               const NodeLoad& load) {
  const Node& node = cluster.nodes[n];
  const double spindle_limit =
      cluster.groups[node.group].policy.spindle_ratio * static_cast<double>(node.spindles);
  std::array<double, kMetricCount> v{};
  v[0] = static_cast<double>(load.unallocated) / node.total_memory;
  v[1] = load.disk_share;
  v[3] = static_cast<double>(load.reserved) / node.total_memory;
  v[6] = static_cast<double>(load.vcpus) / node.cores / node.cpu_speed;
  v[7] = v[8] = v[10] = load.load;
  v[9] = load.disk_load;
  v[12] = load.spindles / spindle_limit;
  v[13] = static_cast<double>(load.memory_forth) / node.total_memory;
  v[14] = load.disk_share_forth;
  v[15] = static_cast<double>(load.vcpus_forth) / node.cores / node.cpu_speed;
  v[16] = load.spindles_forth / spindle_limit;
  return v;
}

bool is_deviation(std::size_t metric) {
  return kMetrics[metric].name.find("_cv") != std::string_view::npos;
}

int surplus(const std::map<std::string, int>& counts) {
  int sum = 0;
  for (const auto& [tag, count] : counts)
    sum += count - 1;
  return sum;
}

// Primaries that share an exclusion tag within one location, over all pairs of location and tag.
double location_exclusion(const Cluster& cluster, const std::vector<bool>& is_counted,
                          const TagRules& tags) {
  std::map<std::pair<std::string, std::string>, int> pairs;
  for (std::size_t i = 0; i < cluster.instances.size(); ++i) {
    const Instance& instance = cluster.instances[i];
    if (!is_counted[at(instance.primary)] || instance.is_forthcoming) continue;
    for (const std::string& location : tags.locations[at(instance.primary)]) {
      for (const std::string& tag : tags.exclusion[i])
        ++pairs[{location, tag}];
    }
  }
  int sum = 0;
  for (const auto& [pair, count] : pairs)
    sum += count - 1;
  return sum;
}

}  // namespace

double Score::overall() const {
  double sum = 0;
  for (std::size_t m = 0; m < kMetricCount; ++m)
    sum += kMetrics[m].weight * metrics[m];
  return sum;
}

Score score(const Cluster& cluster, const std::vector<std::int32_t>& nodes,
            const ScoreOptions& options) {
  const TagRules tags = tag_rules(cluster);
  const std::vector<NodeLoad> loads = load_nodes(cluster, tags, options);
  std::array<std::vector<double>, kMetricCount> values;
  std::vector<bool> is_online(cluster.nodes.size());
  bool has_storage = false;
  Score out;
  for (const std::int32_t n : nodes) {
    const NodeLoad& load = loads[at(n)];
    has_storage = has_storage || !cluster.nodes[at(n)].storage.empty();
    if (cluster.nodes[at(n)].is_offline) {
      out.metrics[4] += load.primaries + load.secondaries;
      out.metrics[5] += load.primaries;
      continue;
    }
    is_online[at(n)] = true;
    const std::array<double, kMetricCount> here = deviations_of(cluster, at(n), load);
    for (std::size_t m = 0; m < kMetricCount; ++m) {
      if (is_deviation(m)) values[m].push_back(here[m]);
    }
    if (load.fails_n1) out.metrics[2] += load.primaries + load.secondaries;
    out.metrics[11] += surplus(load.tags);
    out.metrics[17] += load.location_score;
    out.metrics[19] += here[3];
  }
  // Where every node is offline there is nothing to compare: hbal's score is 0 then, whatever lies
  // on them.
  if (values[0].empty()) return {};
  for (std::size_t m = 0; m < kMetricCount; ++m) {
    if (is_deviation(m)) out.metrics[m] = deviation(values[m]);
  }
  if (has_storage) out.metrics[1] = storage_metric(cluster, nodes);
  out.metrics[18] = location_exclusion(cluster, is_online, tags);
  return out;
}

double storage_metric(const Cluster& cluster, const std::vector<std::int32_t>& nodes) {
  std::map<model::StorageUnitId, Deviation> kinds;
  for (const std::int32_t n : nodes) {
    if (cluster.nodes[at(n)].is_offline) continue;
    for (const StorageUnit& unit : cluster.nodes[at(n)].storage) {
      if (unit.total <= 0) continue;
      kinds[unit.id].insert(static_cast<double>(unit.free) / static_cast<double>(unit.total));
    }
  }
  double sum = 0;
  for (const auto& [kind, deviation] : kinds)
    sum += deviation.sample();
  return kinds.empty() ? 0 : sum / static_cast<double>(kinds.size());
}

}  // namespace fdbpack::place::htools
