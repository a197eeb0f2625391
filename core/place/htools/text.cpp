// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/place/htools/text.hpp"

#include "fdbpack/base/text.hpp"
#include "fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace fdbpack::place::htools {
namespace {

using Columns = std::vector<std::string_view>;
using Lines = std::vector<std::string_view>;

std::vector<Lines> split_sections(std::string_view content) {
  if (!content.empty() && content.back() == '\n') content.remove_suffix(1);
  std::vector<Lines> sections(1);
  for (const std::string_view line : text::split(content, '\n')) {
    if (line.empty()) {
      sections.emplace_back();
    } else {
      sections.back().push_back(line);
    }
  }
  return sections;
}

Result<Group> parse_group(const Columns& c) {
  if (c.size() < 4) return fail(ErrorCode::invalid_argument, "a group line needs 4 columns");
  if (c[2] != "preferred" && c[2] != "last_resort" && c[2] != "unallocable") {
    return fail(ErrorCode::invalid_argument, fmt::format("unknown allocation policy '{}'", c[2]));
  }
  Group group;
  group.name = c[0];
  group.uuid = c[1];
  group.alloc_policy = c[2];
  return group;
}

Status parse_node_numbers(const Columns& c, Node& node) {
  // The reference program loads a node whose facts are unknown as offline and empty.
  if (std::any_of(c.begin() + 1, c.begin() + 7, [](std::string_view v) { return v == "?"; })) {
    node.is_offline = true;
    return {};
  }
  FDBPACK_TRY(node.total_memory, field_number(c[1], "total memory"));
  FDBPACK_TRY(node.node_memory, field_integer(c[2], "node memory"));
  FDBPACK_TRY(node.free_memory, field_integer(c[3], "free memory"));
  FDBPACK_TRY(node.total_disk, field_number(c[4], "total disk"));
  FDBPACK_TRY(node.free_disk, field_integer(c[5], "free disk"));
  FDBPACK_TRY(node.cores, field_number(c[6], "cores"));
  if (node.total_memory < 0 || node.total_disk < 0 || node.cores < 0) {
    return fail(ErrorCode::invalid_argument, "has a negative capacity");
  }
  return {};
}

Status parse_node_options(const Columns& c, Node& node) {
  const auto has = [&](std::size_t column) { return c.size() > column; };
  if (has(9)) {
    FDBPACK_TRY(node.spindles, field_integer(c[9], "spindles"));
  }
  if (has(10)) node.tags = field_list(c[10]);
  if (has(11)) {
    FDBPACK_TRY(node.has_exclusive_storage, field_bool(c[11], "exclusive storage"));
  }
  if (has(12)) {
    FDBPACK_TRY(node.free_spindles, field_integer(c[12], "free spindles"));
  }
  if (has(13)) {
    FDBPACK_TRY(node.node_cpus, field_integer(c[13], "node cpus"));
  }
  if (has(14)) {
    FDBPACK_TRY(node.cpu_speed, field_number(c[14], "cpu speed"));
  }
  if (has(15)) {
    FDBPACK_TRY(node.storage, field_storage(c[15]));
  }
  return {};
}

Result<Node> parse_node(const Columns& c, const std::map<std::string, std::size_t>& groups) {
  if (c.size() < 9) return fail(ErrorCode::invalid_argument, "a node line needs 9 columns");
  Node node;
  node.name = c[0];
  node.is_offline = c[7] == "Y";
  node.is_master = c[7] == "M";
  if (c[7] != "Y" && c[7] != "N" && c[7] != "M") {
    return fail(ErrorCode::invalid_argument,
                fmt::format("node {}: '{}' is not Y, N or M", c[0], c[7]));
  }
  const auto group = groups.find(std::string(c[8]));
  if (group == groups.end()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("unknown group '{}' for node {}", c[8], c[0]));
  }
  node.group = group->second;
  const std::string context = "node " + node.name;
  if (auto status = parse_node_numbers(c, node); !status)
    return fail(with_context(status.error(), context));
  if (auto status = parse_node_options(c, node); !status)
    return fail(with_context(status.error(), context));
  return node;
}

Status parse_instance_columns(const Columns& c, Instance& instance) {
  FDBPACK_TRY(instance.memory, field_integer(c[1], "memory"));
  FDBPACK_TRY(instance.disk, field_integer(c[2], "disk"));
  FDBPACK_TRY(instance.vcpus, field_integer(c[3], "vcpus"));
  FDBPACK_TRY(instance.is_auto_balanced, field_bool(c[5], "auto balance"));
  instance.status = c[4];
  if (!is_known_status(instance.status)) {
    return fail(ErrorCode::invalid_argument, fmt::format("unknown status '{}'", c[4]));
  }
  const std::optional<Template> disk_template = parse_template(c[8]);
  if (!disk_template) {
    return fail(ErrorCode::invalid_argument, fmt::format("unknown disk template '{}'", c[8]));
  }
  instance.disk_template = *disk_template;
  instance.tags = field_list(c[9]);
  if (c.size() > 10) {
    FDBPACK_TRY(instance.spindle_use, field_integer(c[10], "spindle use"));
  }
  if (c.size() > 11 && c[11] != "-") {
    FDBPACK_TRY(instance.spindles, field_integer(c[11], "spindles"));
  }
  if (c.size() > 12) {
    FDBPACK_TRY(instance.is_forthcoming, field_bool(c[12], "forthcoming"));
  }
  return {};
}

Result<Instance> parse_instance(const Columns& c,
                                const std::map<std::string, std::int32_t>& nodes) {
  if (c.size() < 10) return fail(ErrorCode::invalid_argument, "an instance line needs 10 columns");
  Instance instance;
  instance.name = c[0];
  for (const std::size_t column : {std::size_t{6}, std::size_t{7}}) {
    if (column == 7 && c[7].empty()) continue;
    const auto node = nodes.find(std::string(c[column]));
    if (node == nodes.end()) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("unknown node '{}' for instance {}", c[column], c[0]));
    }
    (column == 6 ? instance.primary : instance.secondary) = node->second;
  }
  if (instance.primary == instance.secondary) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("instance {} has the same primary and secondary node", c[0]));
  }
  if (auto status = parse_instance_columns(c, instance); !status) {
    return fail(with_context(status.error(), "instance " + instance.name));
  }
  return instance;
}

Status parse_policies(const Lines& lines, Cluster& cluster) {
  for (const std::string_view line : lines) {
    const Columns c = text::split(line, '|');
    FDBPACK_TRY(const Policy policy, field_policy(c));
    if (c[0].empty()) {
      cluster.policy = policy;
      continue;
    }
    const auto group = std::find_if(cluster.groups.begin(), cluster.groups.end(),
                                    [&](const Group& g) { return g.name == c[0]; });
    if (group == cluster.groups.end()) {
      return fail(ErrorCode::invalid_argument, fmt::format("policy of unknown group '{}'", c[0]));
    }
    group->policy = policy;
  }
  return {};
}

}  // namespace

Result<Cluster> parse_text(std::string_view content) {
  const std::vector<Lines> sections = split_sections(content);
  if (sections.size() < 4) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the file has {} sections instead of 4 or more", sections.size()));
  }
  Cluster cluster;
  std::map<std::string, std::size_t> groups;
  for (const std::string_view line : sections[0]) {
    FDBPACK_TRY(Group group, parse_group(text::split(line, '|')));
    groups[group.uuid] = cluster.groups.size();
    cluster.groups.push_back(std::move(group));
  }
  std::map<std::string, std::int32_t> nodes;
  for (const std::string_view line : sections[1]) {
    FDBPACK_TRY(Node node, parse_node(text::split(line, '|'), groups));
    if (!nodes.emplace(node.name, static_cast<std::int32_t>(cluster.nodes.size())).second) {
      return fail(ErrorCode::invalid_argument, "node " + node.name + " is listed twice");
    }
    cluster.nodes.push_back(std::move(node));
  }
  for (const std::string_view line : sections[2]) {
    FDBPACK_TRY(Instance instance, parse_instance(text::split(line, '|'), nodes));
    cluster.instances.push_back(std::move(instance));
  }
  for (const std::string_view line : sections[3])
    cluster.tags.emplace_back(line);
  if (sections.size() > 4) FDBPACK_TRY_VOID(parse_policies(sections[4], cluster));
  return cluster;
}

}  // namespace fdbpack::place::htools
