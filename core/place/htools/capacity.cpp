// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/place/htools/capacity.hpp"

#include "fdbpack/place/htools/score.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace fdbpack::place::htools {
namespace {

std::size_t at(std::int32_t index) {
  return static_cast<std::size_t>(index);
}

constexpr std::int64_t kForecastMax = 10'000'000;

// The roomiest unit that can hold a disk of the template; `taken` is what earlier disks took.
const StorageUnit* roomiest(const Node& node, Template disk_template,
                            const std::vector<std::int64_t>& taken, std::int64_t& room) {
  const std::vector<std::string_view> types = storage_types(disk_template);
  const StorageUnit* best = nullptr;
  for (std::size_t u = 0; u < node.storage.size(); ++u) {
    const StorageUnit& unit = node.storage[u];
    if (std::find(types.begin(), types.end(), unit.id.type) == types.end()) continue;
    const std::int64_t left = unit.free - taken[u];
    if (best == nullptr || left > room) {
      best = &unit;
      room = left;
    }
  }
  return best;
}

struct Refused {
  Lack lack;
  std::string reason;
};

std::optional<Refused> check_units(const Node& node, const Instance& wanted,
                                   std::vector<std::int64_t>& taken) {
  const std::vector<std::int64_t> whole{wanted.disk};
  for (const std::int64_t size : wanted.disks.empty() ? whole : wanted.disks) {
    std::int64_t room = 0;
    const StorageUnit* unit = roomiest(node, wanted.disk_template, taken, room);
    if (unit == nullptr) {
      return Refused{Lack::disk, fmt::format("has no storage unit for {} disks",
                                             to_string(wanted.disk_template))};
    }
    if (room < size) {
      return Refused{Lack::disk, fmt::format("disk of {} MiB does not fit: {}:{} has {} MiB free",
                                             size, unit->id.type, unit->id.key, room)};
    }
    taken[static_cast<std::size_t>(unit - node.storage.data())] += size;
  }
  return std::nullopt;
}

// The disk rules: by storage unit where the node lists them, otherwise the one number. `count`
// instances are there already.
std::optional<Refused> check_disk(const Node& node, const Instance& wanted, std::int64_t count,
                                  std::vector<std::int64_t>& taken) {
  if (!node.storage.empty() && !storage_types(wanted.disk_template).empty()) {
    return check_units(node, wanted, taken);
  }
  if (!uses_node_disk(wanted.disk_template)) return std::nullopt;
  const std::int64_t left = node.free_disk - (count + 1) * wanted.disk;
  if (left <= 0) {
    return Refused{Lack::disk, fmt::format("disk of {} MiB does not fit: {} MiB are free",
                                           wanted.disk, node.free_disk - count * wanted.disk)};
  }
  if (!node.has_exclusive_storage) return std::nullopt;
  const std::int64_t spindles = wanted.spindles ? *wanted.spindles : node.free_spindles + 1;
  if (node.free_spindles - (count + 1) * spindles < 0) {
    return Refused{Lack::spindles, fmt::format("needs {} spindles, {} are free", spindles,
                                               node.free_spindles - count * spindles)};
  }
  return std::nullopt;
}

// Why the node cannot take one more after `count` of them; the order is the reference programs'.
std::optional<Refused> refuse(const Cluster& cluster, std::size_t n, const NodeLoad& load,
                              const Instance& wanted, const std::vector<std::string>& tags,
                              std::int64_t count, std::vector<std::int64_t>& taken) {
  const Node& node = cluster.nodes[n];
  const Policy& policy = cluster.groups[node.group].policy;
  if (node.is_offline) return Refused{Lack::offline, "is offline"};
  const std::int64_t memory = load.unallocated - (count + 1) * wanted.memory;
  if (memory <= 0) {
    return Refused{Lack::memory,
                   fmt::format("needs {} MiB of memory, {} MiB are free", wanted.memory,
                               load.unallocated - count * wanted.memory)};
  }
  if (auto refused = check_disk(node, wanted, count, taken)) return refused;
  const double spindle_limit = policy.spindle_ratio * static_cast<double>(node.spindles);
  const auto spindles = static_cast<double>((count + 1) * wanted.spindle_use);
  if (uses_node_disk(wanted.disk_template) && !node.has_exclusive_storage &&
      load.spindles + spindles > spindle_limit) {
    return Refused{Lack::disk, fmt::format("spindle limit {} would be passed", spindle_limit)};
  }
  if (memory <= load.reserved && !load.fails_n1) {
    return Refused{Lack::memory, fmt::format("{} MiB are kept for failovers", load.reserved)};
  }
  const std::int64_t vcpus = load.vcpus + (count + 1) * wanted.vcpus;
  if (policy.vcpu_ratio >= 0 && static_cast<double>(vcpus) / node.cores > policy.vcpu_ratio) {
    return Refused{Lack::cpu, fmt::format("{} vcpus on {} cores pass the ratio {}", vcpus,
                                          node.cores, policy.vcpu_ratio)};
  }
  for (const std::string& tag : tags) {
    if (load.tags.contains(tag)) return Refused{Lack::tags, "carries an instance with tag " + tag};
  }
  if (load.memory_forth - (count + 1) * wanted.memory <= 0) {
    return Refused{Lack::memory, "forthcoming instances need the memory"};
  }
  return std::nullopt;
}

// Within one of the policy's ranges.
bool is_allowed(const Policy& policy, const Spec& spec) {
  const auto is_between = [](std::int64_t low, std::int64_t value, std::int64_t high) {
    return low <= value && value <= high;
  };
  return std::any_of(policy.ranges.begin(), policy.ranges.end(), [&](const SpecRange& range) {
    return is_between(range.min.memory, spec.memory, range.max.memory) &&
           is_between(range.min.vcpus, spec.vcpus, range.max.vcpus) &&
           is_between(range.min.disk, spec.disk, range.max.disk);
  });
}

std::vector<std::string> exclusion_tags(const Cluster& cluster, const Instance& wanted) {
  Cluster alone;
  alone.tags = cluster.tags;
  alone.instances = {wanted};
  return tag_rules(alone).exclusion.front();
}

// The cluster with the instance on the node.
Cluster with(const Cluster& cluster, const Instance& wanted, std::int32_t node) {
  Cluster out = cluster;
  out.instances.push_back(wanted);
  out.instances.back().primary = node;
  Node& target = out.nodes[at(node)];
  target.free_memory -= wanted.memory;
  if (uses_node_disk(wanted.disk_template)) target.free_disk -= wanted.disk;
  return out;
}

}  // namespace

std::string_view to_string(Lack lack) {
  switch (lack) {
    case Lack::memory:
      return "FailMem";
    case Lack::disk:
      return "FailDisk";
    case Lack::spindles:
      return "FailSpindles";
    case Lack::cpu:
      return "FailCPU";
    case Lack::tags:
      return "FailTags";
    case Lack::offline:
      return "offline";
  }
  return "";
}

Result<Forecast> forecast(const Cluster& cluster) {
  const std::vector<std::string>& allowed = cluster.policy.templates;
  const std::optional<Template> disk_template =
      allowed.empty() ? Template::diskless : parse_template(allowed.front());
  if (!disk_template)
    return fail(ErrorCode::invalid_argument, "the policy names an unknown disk template");
  if (*disk_template == Template::drbd) {
    return fail(ErrorCode::unsupported, "instances on two nodes are not forecast");
  }
  const Spec& spec = cluster.policy.standard;
  Instance wanted;
  wanted.memory = spec.memory;
  wanted.disk = spec.disk;
  wanted.vcpus = spec.vcpus;
  wanted.status = "running";
  wanted.spindle_use = spec.spindle_use;
  wanted.spindles = spec.spindle_use;
  wanted.disk_template = *disk_template;
  const std::vector<NodeLoad> loads = load_nodes(cluster, tag_rules(cluster), {});
  Forecast out;
  for (std::size_t n = 0; n < loads.size(); ++n) {
    out.fails_n1 = out.fails_n1 || (!cluster.nodes[n].is_offline && loads[n].fails_n1);
  }
  if (out.fails_n1) return out;
  for (std::size_t n = 0; n < cluster.nodes.size(); ++n) {
    if (cluster.nodes[n].is_offline) continue;
    if (!is_allowed(cluster.groups[cluster.nodes[n].group].policy, spec)) {
      ++out.lacks[Lack::disk];
      continue;
    }
    std::vector<std::int64_t> taken(cluster.nodes[n].storage.size());
    std::int64_t count = 0;
    std::optional<Refused> refused;
    while (count < kForecastMax) {
      refused = refuse(cluster, n, loads[n], wanted, {}, count, taken);
      if (refused) break;
      ++count;
    }
    if (refused) ++out.lacks[refused->lack];
    out.instances += count;
  }
  return out;
}

Result<Allocation> allocate(const Cluster& cluster, const Instance& wanted) {
  if (wanted.disk_template == Template::drbd) {
    return fail(ErrorCode::unsupported, "instances on two nodes are not allocated");
  }
  const std::vector<NodeLoad> loads = load_nodes(cluster, tag_rules(cluster), {});
  const std::vector<std::string> tags = exclusion_tags(cluster, wanted);
  const std::vector<std::int64_t> sizes =
      wanted.disks.empty() ? std::vector{wanted.disk} : wanted.disks;
  Allocation out;
  for (std::size_t n = 0; n < cluster.nodes.size(); ++n) {
    const auto node = static_cast<std::int32_t>(n);
    const Policy& policy = cluster.groups[cluster.nodes[n].group].policy;
    const bool is_in_policy = std::all_of(sizes.begin(), sizes.end(), [&](std::int64_t size) {
      return is_allowed(policy, Spec{wanted.memory, wanted.vcpus, size});
    });
    if (!is_in_policy) {
      out.refused.push_back(
          {node, Lack::disk, "its group's policy does not allow such an instance"});
      continue;
    }
    std::vector<std::int64_t> taken(cluster.nodes[n].storage.size());
    if (auto refused = refuse(cluster, n, loads[n], wanted, tags, 0, taken)) {
      out.refused.push_back({node, refused->lack, std::move(refused->reason)});
      continue;
    }
    Cluster after = with(cluster, wanted, node);
    for (std::size_t u = 0; u < taken.size(); ++u)
      after.nodes[n].storage[u].free -= taken[u];
    FDBPACK_TRY(const auto nodes,
                nodes_of_group(after, cluster.groups[cluster.nodes[n].group].uuid));
    const double overall = score(after, nodes, {}).overall();
    if (out.node == kNoNode || overall < out.score) {
      out.runner_up = out.node;
      out.runner_up_score = out.score;
      out.node = node;
      out.score = overall;
    } else if (out.runner_up == kNoNode || overall < out.runner_up_score) {
      out.runner_up = node;
      out.runner_up_score = overall;
    }
  }
  return out;
}

}  // namespace fdbpack::place::htools
