// SPDX-License-Identifier: Apache-2.0
//
// Counts the instances into their nodes, the way the reference programs do when they load a file.
#include "fdbpack/place/htools/score.hpp"

#include <algorithm>

namespace fdbpack::place::htools {
namespace {

std::size_t at(std::int32_t index) {
  return static_cast<std::size_t>(index);
}

std::vector<std::string> suffixes(const std::vector<std::string>& tags, std::string_view prefix) {
  std::vector<std::string> out;
  for (const std::string& tag : tags) {
    if (tag.starts_with(prefix) && tag.size() > prefix.size())
      out.push_back(tag.substr(prefix.size()));
  }
  return out;
}

bool starts_with_any(const std::string& tag, const std::vector<std::string>& prefixes,
                     std::string_view then) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const std::string& prefix) {
    return tag.starts_with(prefix + std::string(then));
  });
}

// `htools:allowmigration:a::b`: a node with b can receive from a node with a.
std::set<std::string> receivable(const std::set<std::string>& own,
                                 const std::vector<std::string>& allowed) {
  std::set<std::string> out = own;
  for (const std::string& pair : allowed) {
    const std::size_t colons = pair.find("::");
    if (colons == std::string::npos || pair.find("::", colons + 2) != std::string::npos) continue;
    if (own.contains(pair.substr(colons + 2))) out.insert(pair.substr(0, colons));
  }
  return out;
}

double disk_share(double free, double total) {
  return total == 0 ? 1.0 : free / total;
}

void count_primary(const Cluster& cluster, const TagRules& tags, std::size_t i, int weight,
                   NodeLoad& load) {
  const Instance& instance = cluster.instances[i];
  const std::int64_t vcpus = is_switched_off(instance) ? 0 : instance.vcpus;
  const bool has_spindles = uses_node_disk(instance.disk_template) &&
                            !cluster.nodes[at(instance.primary)].has_exclusive_storage;
  const double spindles = has_spindles ? static_cast<double>(instance.spindle_use) : 0.0;
  for (const std::string& tag : tags.exclusion[i])
    ++load.tags[tag];
  load.vcpus_forth += vcpus;
  load.spindles_forth += spindles;
  if (!uses_memory(instance)) load.memory_forth -= instance.memory;
  if (instance.is_forthcoming) return;
  ++load.primaries;
  load.vcpus += vcpus;
  load.load += weight;
  load.disk_load += weight;
  load.spindles += spindles;
  const std::set<std::string>& here = tags.locations[at(instance.primary)];
  for (const std::string& tag : tags.desired[i])
    load.location_score += here.contains(tag) ? 0 : 1;
  if (instance.secondary == kNoNode) return;
  for (const std::string& tag : tags.locations[at(instance.secondary)]) {
    load.location_score += here.contains(tag) ? 1 : 0;
  }
}

void count_secondary(const Cluster& cluster, const Instance& instance, int weight, NodeLoad& load) {
  const bool has_spindles = uses_node_disk(instance.disk_template) &&
                            !cluster.nodes[at(instance.secondary)].has_exclusive_storage;
  const double spindles = has_spindles ? static_cast<double>(instance.spindle_use) : 0.0;
  load.spindles_forth += spindles;
  if (instance.is_forthcoming) return;
  ++load.secondaries;
  load.disk_load += weight;
  load.spindles += spindles;
}

// Forthcoming instances have not taken their disk yet.
void take_forthcoming_disk(const Cluster& cluster, std::size_t n, NodeLoad& load) {
  const Node& node = cluster.nodes[n];
  std::int64_t free_disk = node.free_disk;
  std::int64_t free_spindles = node.free_spindles;
  bool is_changed = false;
  for (const Instance& instance : cluster.instances) {
    const bool is_here =
        at(instance.primary) == n || (instance.secondary != kNoNode && at(instance.secondary) == n);
    if (!is_here || !instance.is_forthcoming) continue;
    is_changed = true;
    if (uses_node_disk(instance.disk_template)) free_disk -= instance.disk;
    free_spindles = instance.spindles ? free_spindles - *instance.spindles : -1;
  }
  load.disk_share =
      node.has_exclusive_storage
          ? disk_share(static_cast<double>(node.free_spindles), static_cast<double>(node.spindles))
          : disk_share(static_cast<double>(node.free_disk), node.total_disk);
  load.disk_share_forth = load.disk_share;
  if (!is_changed) return;
  load.disk_share_forth =
      node.has_exclusive_storage
          ? disk_share(static_cast<double>(free_spindles), static_cast<double>(node.spindles))
          : disk_share(static_cast<double>(free_disk), node.total_disk);
}

void settle_memory(const Cluster& cluster, std::vector<NodeLoad>& loads) {
  std::vector<std::int64_t> used(cluster.nodes.size());
  std::vector<std::map<std::int32_t, std::int64_t>> peers(cluster.nodes.size());
  for (const Instance& instance : cluster.instances) {
    if (uses_memory(instance)) used[at(instance.primary)] += instance.memory;
    const bool is_reserved =
        instance.secondary != kNoNode && !instance.is_forthcoming && !is_switched_off(instance);
    if (is_reserved && instance.is_auto_balanced) {
      peers[at(instance.secondary)][instance.primary] += instance.memory;
    }
  }
  for (std::size_t n = 0; n < cluster.nodes.size(); ++n) {
    const Node& node = cluster.nodes[n];
    const std::int64_t recorded =
        static_cast<std::int64_t>(node.total_memory) - node.node_memory - used[n];
    const std::int64_t missing = recorded - node.free_memory;
    loads[n].unallocated = recorded - std::max<std::int64_t>(0, missing);
    for (const auto& [primary, memory] : peers[n])
      loads[n].reserved = std::max(loads[n].reserved, memory);
    loads[n].fails_n1 = node.free_memory < loads[n].reserved;
  }
}

}  // namespace

TagRules tag_rules(const Cluster& cluster) {
  const std::vector<std::string> locations = suffixes(cluster.tags, "htools:nlocation:");
  const std::vector<std::string> migrations = suffixes(cluster.tags, "htools:migration:");
  const std::vector<std::string> allowed = suffixes(cluster.tags, "htools:allowmigration:");
  const std::vector<std::string> exclusions = suffixes(cluster.tags, "htools:iextags:");
  const std::vector<std::string> desired = suffixes(cluster.tags, "htools:desiredlocation:");
  TagRules out;
  for (const Node& node : cluster.nodes) {
    std::set<std::string> here;
    std::set<std::string> migration;
    for (const std::string& tag : node.tags) {
      if (starts_with_any(tag, locations, ":")) here.insert(tag);
      if (starts_with_any(tag, migrations, ":")) migration.insert(tag);
    }
    out.receives.push_back(receivable(migration, allowed));
    out.locations.push_back(std::move(here));
    out.migration.push_back(std::move(migration));
  }
  for (const Instance& instance : cluster.instances) {
    std::vector<std::string> exclusive;
    std::set<std::string> wishes;
    for (const std::string& tag : instance.tags) {
      if (starts_with_any(tag, exclusions, "")) exclusive.push_back(tag);
      if (starts_with_any(tag, desired, "")) wishes.insert(tag);
    }
    out.exclusion.push_back(std::move(exclusive));
    out.desired.push_back(std::move(wishes));
  }
  return out;
}

std::vector<NodeLoad> load_nodes(const Cluster& cluster, const TagRules& tags,
                                 const ScoreOptions& options) {
  std::vector<NodeLoad> loads(cluster.nodes.size());
  const int weight = options.ignore_dynu ? 0 : 1;
  bool has_forthcoming = false;
  for (std::size_t n = 0; n < loads.size(); ++n) {
    loads[n].vcpus = loads[n].vcpus_forth = cluster.nodes[n].node_cpus;
    loads[n].memory_forth = cluster.nodes[n].free_memory;
  }
  for (std::size_t i = 0; i < cluster.instances.size(); ++i) {
    const Instance& instance = cluster.instances[i];
    has_forthcoming = has_forthcoming || instance.is_forthcoming;
    count_primary(cluster, tags, i, weight, loads[at(instance.primary)]);
    if (instance.secondary != kNoNode)
      count_secondary(cluster, instance, weight, loads[at(instance.secondary)]);
  }
  settle_memory(cluster, loads);
  for (std::size_t n = 0; n < loads.size(); ++n) {
    if (has_forthcoming) {
      take_forthcoming_disk(cluster, n, loads[n]);
      continue;
    }
    const Node& node = cluster.nodes[n];
    loads[n].disk_share = loads[n].disk_share_forth =
        node.has_exclusive_storage
            ? disk_share(static_cast<double>(node.free_spindles),
                         static_cast<double>(node.spindles))
            : disk_share(static_cast<double>(node.free_disk), node.total_disk);
  }
  return loads;
}

}  // namespace fdbpack::place::htools
