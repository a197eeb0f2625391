// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/base/text.hpp"
#include "fdbpack/place/htools/text.hpp"

#include <fmt/format.h>

namespace fdbpack::place::htools {
namespace {

std::string number(double value) {
  const auto whole = static_cast<std::int64_t>(value);
  return static_cast<double>(whole) == value ? std::to_string(whole) : fmt::format("{}", value);
}

std::string spec_text(const Spec& s) {
  return fmt::format("{},{},{},{},{},{}", s.memory, s.vcpus, s.disk, s.disk_count, s.nic_count,
                     s.spindle_use);
}

std::string policy_text(const std::string& owner, const Policy& policy) {
  std::vector<std::string> ranges;
  for (const SpecRange& range : policy.ranges) {
    ranges.push_back(spec_text(range.min) + ";" + spec_text(range.max));
  }
  return fmt::format("{}|{}|{}|{}|{:.1f}|{:.1f}\n", owner, spec_text(policy.standard),
                     text::join(ranges, ";"), text::join(policy.templates, ","), policy.vcpu_ratio,
                     policy.spindle_ratio);
}

std::string node_text(const Cluster& cluster, const Node& node) {
  std::string out = fmt::format(
      "{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", node.name, number(node.total_memory),
      node.node_memory, node.free_memory, number(node.total_disk), node.free_disk,
      number(node.cores), node.is_offline ? "Y" : (node.is_master ? "M" : "N"),
      cluster.groups[node.group].uuid, node.spindles, text::join(node.tags, ","),
      node.has_exclusive_storage ? "Y" : "N", node.free_spindles, node.node_cpus, node.cpu_speed);
  std::vector<std::string> units;
  for (const StorageUnit& unit : node.storage) {
    std::string text = fmt::format("{},{},{},{}", unit.free, unit.total, unit.id.type, unit.id.key);
    for (const std::string& param : unit.id.params)
      text += "," + param;
    units.push_back(std::move(text));
  }
  if (!units.empty()) out += "|" + text::join(units, ";");
  return out + "\n";
}

std::string instance_text(const Cluster& cluster, const Instance& i) {
  const auto name = [&](std::int32_t node) {
    return node == kNoNode ? std::string() : cluster.nodes[static_cast<std::size_t>(node)].name;
  };
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}\n", i.name, i.memory, i.disk, i.vcpus,
                     i.status, i.is_auto_balanced ? "Y" : "N", name(i.primary), name(i.secondary),
                     to_string(i.disk_template), text::join(i.tags, ","), i.spindle_use,
                     i.spindles ? std::to_string(*i.spindles) : "-", i.is_forthcoming ? "Y" : "N");
}

}  // namespace

std::string print_text(const Cluster& cluster) {
  std::string out;
  for (const Group& group : cluster.groups) {
    out += fmt::format("{}|{}|{}||\n", group.name, group.uuid, group.alloc_policy);
  }
  out += "\n";
  for (const Node& node : cluster.nodes)
    out += node_text(cluster, node);
  out += "\n";
  for (const Instance& instance : cluster.instances)
    out += instance_text(cluster, instance);
  out += "\n";
  for (const std::string& tag : cluster.tags)
    out += tag + "\n";
  out += "\n" + policy_text("", cluster.policy);
  for (const Group& group : cluster.groups)
    out += policy_text(group.name, group.policy);
  return out;
}

}  // namespace fdbpack::place::htools
