// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/place/htools/capacity.hpp"

#include "fdbpack/place/htools/score.hpp"
#include "fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace fdbpack::place::htools {
namespace {

std::size_t at(std::int32_t index) {
  return static_cast<std::size_t>(index);
}

constexpr std::int64_t kSizeMax = 1'000'000'000'000'000;

// Without memory any number would fit, and sums of larger sizes would not fit their type.
Status check_size(const Spec& spec) {
  if (spec.memory <= 0) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the policy has a specification with {} MiB of memory: how many fit "
                            "has no limit",
                            spec.memory));
  }
  for (const std::int64_t size : {spec.memory, spec.disk, spec.vcpus, spec.spindle_use}) {
    if (size < 0 || size > kSizeMax) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("the policy has a specification with the size {}", size));
    }
  }
  return {};
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
    case Lack::cpu:
      return "FailCPU";
    case Lack::tags:
      return "FailTags";
    case Lack::disk_count:
      return "FailDiskCount";
    case Lack::spindles:
      return "FailSpindles";
    case Lack::offline:
      return "offline";
  }
  return "";
}

Result<Instance> instance_of(const Cluster& cluster, const Spec& spec) {
  const std::vector<std::string>& allowed = cluster.policy.templates;
  const std::optional<Template> disk_template =
      allowed.empty() ? Template::diskless : parse_template(allowed.front());
  if (!disk_template)
    return fail(ErrorCode::invalid_argument, "the policy names an unknown disk template");
  if (*disk_template == Template::drbd)
    return fail(ErrorCode::unsupported, "instances on two nodes are not forecast");
  FDBPACK_TRY_VOID(check_size(spec));
  Instance wanted;
  wanted.memory = spec.memory;
  wanted.disk = spec.disk;
  wanted.vcpus = spec.vcpus;
  wanted.status = "running";
  wanted.spindle_use = cluster.policy.standard.spindle_use;
  wanted.spindles = spec.spindle_use;
  wanted.disk_template = *disk_template;
  return wanted;
}

bool fails_n1(const Cluster& cluster, const std::vector<NodeLoad>& loads) {
  for (std::size_t n = 0; n < loads.size(); ++n) {
    if (!cluster.nodes[n].is_offline && loads[n].fails_n1) return true;
  }
  return false;
}

Result<Forecast> forecast(const Cluster& cluster) {
  FDBPACK_TRY(const Instance wanted, instance_of(cluster, cluster.policy.standard));
  const std::vector<NodeLoad> loads = load_nodes(cluster, tag_rules(cluster), {});
  Forecast out;
  out.fails_n1 = fails_n1(cluster, loads);
  if (out.fails_n1) return out;
  for (std::size_t n = 0; n < cluster.nodes.size(); ++n) {
    if (cluster.nodes[n].is_offline) continue;
    const Node& node = cluster.nodes[n];
    if (const auto lack =
            policy_lack(cluster.groups[node.group].policy, wanted, node.has_exclusive_storage)) {
      ++out.lacks[*lack];
      continue;
    }
    std::vector<std::int64_t> taken(cluster.nodes[n].storage.size());
    std::int64_t count = 0;
    std::optional<Refused> refused;
    while (!(refused = refuse(cluster, n, loads[n], wanted, {}, count, taken))) {
      if (out.instances + ++count > kForecastMax) return fail(too_many_instances());
    }
    ++out.lacks[refused->lack];
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
  Allocation out;
  for (std::size_t n = 0; n < cluster.nodes.size(); ++n) {
    const auto node = static_cast<std::int32_t>(n);
    const Policy& policy = cluster.groups[cluster.nodes[n].group].policy;
    const auto lack = policy_lack(policy, wanted, cluster.nodes[n].has_exclusive_storage);
    if (lack) {
      out.refused.push_back({node, *lack, "its group's policy does not allow such an instance"});
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
