// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/wire/htools_json.hpp"

#include "fdbpack/wire/json_reader.hpp"

#include <map>

namespace fdbpack::wire {
namespace {

using place::htools::Allocation;
using place::htools::Cluster;
using place::htools::Group;
using place::htools::Instance;
using place::htools::kNoNode;
using place::htools::Node;
using place::htools::NodeRefusal;
using place::htools::Spec;
using place::htools::StorageUnit;
using place::htools::Template;

constexpr std::int64_t kMax = std::int64_t{1} << 50;
constexpr std::size_t kItemsMax = 1'000'000;

std::int64_t number_of(ObjectReader& object, std::string_view name, std::int64_t otherwise) {
  const auto field = object.optional(name);
  if (!field || field->is_null()) return otherwise;
  return field->integer(-kMax, kMax).value_or(otherwise);
}

bool flag_of(ObjectReader& object, std::string_view name) {
  const auto field = object.optional(name);
  return field && !field->is_null() && field->boolean().value_or(false);
}

std::vector<std::string> strings_of(ObjectReader& object, std::string_view name) {
  std::vector<std::string> out;
  const auto field = object.optional(name);
  if (!field || field->is_null()) return out;
  for (const JsonReader& item : field->items(kItemsMax))
    out.push_back(item.string().value_or(""));
  return out;
}

Spec read_spec(const JsonReader& reader) {
  Spec spec;
  ObjectReader object(reader);
  spec.memory = number_of(object, "memory-size", 0);
  spec.vcpus = number_of(object, "cpu-count", 0);
  spec.disk = number_of(object, "disk-size", 0);
  return spec;
}

Group read_group(const std::string& uuid, const JsonReader& reader) {
  Group group;
  group.uuid = uuid;
  ObjectReader object(reader);
  if (const auto name = object.optional("name")) group.name = name->string().value_or("");
  if (const auto policy = object.optional("alloc_policy"))
    group.alloc_policy = policy->string().value_or("");
  if (const auto policy = object.optional("ipolicy"); policy && !policy->is_null()) {
    ObjectReader fields(*policy);
    if (const auto ratio = fields.optional("vcpu-ratio")) {
      group.policy.vcpu_ratio = ratio->number(-1e6, 1e6).value_or(group.policy.vcpu_ratio);
    }
    if (const auto ratio = fields.optional("spindle-ratio")) {
      group.policy.spindle_ratio = ratio->number(0, 1e6).value_or(group.policy.spindle_ratio);
    }
    if (const auto ranges = fields.optional("minmax")) {
      group.policy.ranges.clear();
      for (const JsonReader& item : ranges->items(kItemsMax)) {
        ObjectReader range(item);
        const auto min = range.required("min");
        const auto max = range.required("max");
        if (min && max) group.policy.ranges.push_back({read_spec(*min), read_spec(*max)});
      }
    }
  }
  return group;
}

void read_storage(const JsonReader& reader, Node& node) {
  for (const JsonReader& item : reader.items(kItemsMax)) {
    ObjectReader object(item);
    StorageUnit unit;
    if (const auto kind = object.required("sunit")) {
      const std::vector<JsonReader> parts = kind->items(3);
      if (parts.size() < 2) {
        kind->refuse("a storage unit is [type, key, [params]]");
        continue;
      }
      unit.id.type = parts[0].string().value_or("");
      unit.id.key = parts[1].string().value_or("");
    }
    unit.free = number_of(object, "free", 0);
    unit.total = number_of(object, "total", 0);
    if (unit.free < 0 || unit.free > unit.total)
      item.refuse("a storage unit must have 0 <= free <= total");
    node.storage.push_back(std::move(unit));
  }
}

Node read_node(const std::string& name, const JsonReader& reader,
               const std::map<std::string, std::size_t>& groups) {
  Node node;
  node.name = name;
  ObjectReader object(reader);
  node.is_offline = flag_of(object, "offline") || flag_of(object, "drained");
  node.total_memory = static_cast<double>(number_of(object, "total_memory", 0));
  node.free_memory = number_of(object, "free_memory", 0);
  node.node_memory = number_of(object, "reserved_memory", 0);
  node.total_disk = static_cast<double>(number_of(object, "total_disk", 0));
  node.free_disk = number_of(object, "free_disk", 0);
  node.cores = static_cast<double>(number_of(object, "total_cpus", 0));
  node.node_cpus = number_of(object, "reserved_cpus", 1);
  node.free_spindles = number_of(object, "free_spindles", 0);
  node.tags = strings_of(object, "tags");
  if (node.total_memory < 0 || node.total_disk < 0 || node.cores < 0)
    reader.refuse("a capacity is negative");
  if (const auto params = object.optional("ndparams"); params && !params->is_null()) {
    ObjectReader fields(*params);
    node.spindles = number_of(fields, "spindle_count", 1);
    node.has_exclusive_storage = flag_of(fields, "exclusive_storage");
  }
  if (const auto group = object.required("group")) {
    const auto found = groups.find(group->string().value_or(""));
    if (found == groups.end()) {
      group->refuse("there is no such node group");
    } else {
      node.group = found->second;
    }
  }
  if (const auto storage = object.optional("storage"); storage && !storage->is_null())
    read_storage(*storage, node);
  return node;
}

Instance read_instance(const std::string& name, const JsonReader& reader) {
  Instance instance;
  instance.name = name;
  ObjectReader object(reader);
  instance.memory = number_of(object, "memory", 0);
  instance.vcpus = number_of(object, "vcpus", 0);
  instance.disk = number_of(object, "disk_space_total", 0);
  instance.spindle_use = number_of(object, "spindle_use", 1);
  instance.is_forthcoming = flag_of(object, "forthcoming");
  instance.tags = strings_of(object, "tags");
  instance.status = "running";
  if (const auto state = object.optional("admin_state")) {
    const std::string text = state->string().value_or("up");
    instance.status = text == "up" ? "running" : "ADMIN_" + text;
  }
  if (const auto kind = object.required("disk_template")) {
    const std::optional<Template> known =
        place::htools::parse_template(kind->string().value_or(""));
    if (!known) kind->refuse("this is not a disk template");
    instance.disk_template = known.value_or(Template::diskless);
  }
  if (const auto disks = object.optional("disks"); disks && !disks->is_null()) {
    for (const JsonReader& item : disks->items(kItemsMax)) {
      ObjectReader disk(item);
      instance.disks.push_back(number_of(disk, "size", 0));
    }
  }
  return instance;
}

void read_instances(const JsonReader& reader, Cluster& cluster) {
  std::map<std::string, std::int32_t> nodes;
  for (std::size_t n = 0; n < cluster.nodes.size(); ++n) {
    nodes[cluster.nodes[n].name] = static_cast<std::int32_t>(n);
  }
  for (const auto& [name, value] : ObjectReader(reader).members()) {
    Instance instance = read_instance(name, value);
    ObjectReader object(value);
    const std::vector<std::string> names = strings_of(object, "nodes");
    for (std::size_t i = 0; i < names.size() && i < 2; ++i) {
      const auto found = nodes.find(names[i]);
      if (found == nodes.end()) {
        value.refuse("there is no node " + names[i]);
      } else {
        (i == 0 ? instance.primary : instance.secondary) = found->second;
      }
    }
    if (instance.primary == kNoNode) {
      value.refuse("an instance needs a node");
      continue;
    }
    cluster.instances.push_back(std::move(instance));
  }
}

}  // namespace

Result<HtoolsRequest> read_htools_request(std::string_view json) {
  Violations violations;
  const auto document = parse_json(json, violations, {std::size_t{1} << 28, 32});
  if (!document) return fail(ErrorCode::invalid_argument, to_string(violations));
  HtoolsRequest out;
  ObjectReader object(JsonReader(*document, violations));
  std::map<std::string, std::size_t> groups;
  if (const auto field = object.required("nodegroups")) {
    for (const auto& [uuid, value] : ObjectReader(*field).members()) {
      groups[uuid] = out.cluster.groups.size();
      out.cluster.groups.push_back(read_group(uuid, value));
    }
  }
  if (const auto field = object.required("nodes")) {
    for (const auto& [name, value] : ObjectReader(*field).members()) {
      out.cluster.nodes.push_back(read_node(name, value, groups));
    }
  }
  if (const auto field = object.required("instances")) read_instances(*field, out.cluster);
  out.cluster.tags = strings_of(object, "cluster_tags");
  if (const auto field = object.required("request")) {
    ObjectReader request(*field);
    const auto type = request.required("type");
    if (type && type->string().value_or("") != "allocate")
      type->refuse("only allocate is answered");
    if (number_of(request, "required_nodes", 1) != 1)
      field->refuse("only instances on one node are placed");
    std::string name = "new";
    if (const auto given = request.optional("name")) name = given->string().value_or(name);
    out.wanted = read_instance(name, *field);
  }
  if (!violations.empty()) return fail(ErrorCode::invalid_argument, to_string(violations));
  return out;
}

JsonValue to_json(const HtoolsRequest& request, const Allocation& allocation) {
  using Object = JsonValue::Object;
  using Array = JsonValue::Array;
  const auto name = [&](std::int32_t node) {
    return request.cluster.nodes[static_cast<std::size_t>(node)].name;
  };
  const bool is_placed = allocation.node != kNoNode;
  Array refused;
  std::map<std::string, std::int64_t> lacks;
  for (const NodeRefusal& refusal : allocation.refused) {
    ++lacks[std::string(to_string(refusal.lack))];
    refused.emplace_back(Object{{"node", name(refusal.node)},
                                {"lack", to_string(refusal.lack)},
                                {"reason", refusal.reason}});
  }
  std::string info = is_placed ? "placed on " + name(allocation.node) : "no node can take it";
  for (const auto& [lack, count] : lacks)
    info += ", " + lack + ": " + std::to_string(count);
  Object out{{"success", is_placed},
             {"info", std::move(info)},
             {"result", is_placed ? Array{name(allocation.node)} : Array{}}};
  if (is_placed) out.emplace_back("score", allocation.score);
  if (allocation.runner_up != kNoNode) {
    out.emplace_back("runnerUp", Object{{"node", name(allocation.runner_up)},
                                        {"score", allocation.runner_up_score}});
  }
  out.emplace_back("refused", std::move(refused));
  return out;
}

}  // namespace fdbpack::wire
