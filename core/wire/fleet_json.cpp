// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/wire/fleet_json.hpp"

#include "fdbpack/place/from_spec.hpp"
#include "fdbpack/wire/json_reader.hpp"
#include "fdbpack/wire/spec_json.hpp"

#include <algorithm>
#include <cmath>

namespace fdbpack::wire {
namespace {

using place::Fleet;
using place::Group;
using place::Host;
using place::UnitKind;

constexpr std::size_t kHostsMax = 1'000'000;
constexpr std::size_t kUnitsMax = 1'000;
constexpr std::int64_t kMibMax = std::int64_t{1} << 50;
constexpr JsonLimits kLimits{std::size_t{1} << 30, 32};

std::int64_t read_mib(ObjectReader& object, std::string_view name, std::int64_t otherwise) {
  const auto field = object.optional(name);
  if (!field || field->is_null()) return otherwise;
  return field->integer(0, kMibMax).value_or(otherwise);
}

// Cores, in thousandths.
std::int64_t read_cpu(ObjectReader& object, std::int64_t otherwise) {
  const auto field = object.optional("cpu");
  if (!field || field->is_null()) return otherwise;
  const auto cores = field->number(0, 1e6);
  return cores ? static_cast<std::int64_t>(std::llround(*cores * 1000)) : otherwise;
}

std::string read_string(ObjectReader& object, std::string_view name, std::string otherwise) {
  const auto field = object.optional(name);
  if (!field || field->is_null()) return otherwise;
  return field->string().value_or(otherwise);
}

// ["file", "nvme", []]
UnitKind read_unit_kind(const JsonReader& reader) {
  UnitKind kind;
  const std::vector<JsonReader> parts = reader.items(3);
  if (parts.size() < 2) {
    reader.refuse("a storage unit is [type, key, [params]]");
    return kind;
  }
  kind.type = parts[0].string().value_or("");
  kind.key = parts[1].string().value_or("");
  if (parts.size() > 2) {
    for (const JsonReader& param : parts[2].items(kUnitsMax))
      kind.params.push_back(param.string().value_or(""));
  }
  return kind;
}

Host read_host(const JsonReader& reader) {
  Host host;
  ObjectReader object(reader);
  if (const auto id = object.required("id")) host.id = id->string().value_or("");
  if (const auto labels = object.optional("labels")) {
    for (const auto& [name, value] : ObjectReader(*labels).members()) {
      host.labels[name] = value.string().value_or("");
    }
  }
  if (object.required("cpu")) host.cpu_milli = read_cpu(object, 0);
  if (object.required("memoryMiB")) host.memory_mib = read_mib(object, "memoryMiB", 0);
  if (const auto slots = object.optional("portSlots")) {
    host.port_slots = static_cast<int>(slots->integer(0, place::kPortSlotsMax).value_or(0));
  }
  object.read("draining", host.is_draining);
  object.read("unreachable", host.is_unreachable);
  if (const auto storage = object.optional("storage")) {
    for (const JsonReader& item : storage->items(kUnitsMax)) {
      place::Unit unit;
      ObjectReader fields(item);
      if (const auto kind = fields.required("sunit")) unit.kind = read_unit_kind(*kind);
      if (fields.required("free")) unit.free_mib = read_mib(fields, "free", 0);
      if (fields.required("total")) unit.total_mib = read_mib(fields, "total", 0);
      fields.finish();
      host.units.push_back(std::move(unit));
    }
  }
  object.finish();
  return host;
}

const place::SetDemand* find_set(const place::ClusterDemand& cluster, const Group& group) {
  for (const place::ClassDemand& demand : cluster.classes) {
    if (demand.process_class != group.process_class) continue;
    for (const place::SetDemand& set : demand.sets) {
      if (set.name == group.set) return &set;
    }
  }
  return nullptr;
}

// One disk as `storageUnit`, `diskMiB` and `usedMiB`, or several as `disks`.
void read_disks(ObjectReader& object, const place::Shape& shape, Group& group) {
  const std::int64_t size =
      read_mib(object, "diskMiB", shape.disks.empty() ? 0 : shape.disks.front().size_mib);
  const std::int64_t used = read_mib(object, "usedMiB", group.is_reserved ? 0 : size);
  const auto unit = object.optional("storageUnit");
  if (unit && !unit->is_null()) group.disks.push_back({read_unit_kind(*unit), size, used});
  const auto list = object.optional("disks");
  if (!list || list->is_null()) return;
  if (!group.disks.empty()) {
    list->refuse("a group has either disks or one storageUnit, not both");
    return;
  }
  for (const JsonReader& item : list->items(kUnitsMax)) {
    ObjectReader one(item);
    place::PlacedDisk disk;
    if (const auto kind = one.required("storageUnit")) disk.unit = read_unit_kind(*kind);
    if (const auto field = one.required("sizeMiB"))
      disk.size_mib = field->integer(0, kMibMax).value_or(0);
    disk.used_mib = read_mib(one, "usedMiB", group.is_reserved ? 0 : disk.size_mib);
    one.finish();
    group.disks.push_back(std::move(disk));
  }
}

Group read_group(const std::string& id, const JsonReader& reader,
                 const place::ClusterDemand& cluster) {
  static const place::SetDemand kNothing;
  Group group;
  group.id = id;
  group.cluster = cluster.name;
  ObjectReader object(reader);
  if (const auto name = object.required("processClass"))
    group.process_class = name->string().value_or("");
  group.set = read_string(object, "set", "default");
  if (const auto host = object.required("host")) group.host = host->string().value_or("");
  group.fault_domain = read_string(object, "faultDomain", "");
  const place::SetDemand* found = find_set(cluster, group);
  const place::Shape& shape = (found == nullptr ? kNothing : *found).shape;
  group.cpu_milli = read_cpu(object, shape.cpu_milli);
  group.memory_mib = read_mib(object, "memoryMiB", shape.memory_mib);
  group.servers = static_cast<int>(
      std::min<std::int64_t>(read_mib(object, "serversPerDisk", shape.servers), 1 << 20));
  group.port_slot =
      static_cast<int>(std::min<std::int64_t>(read_mib(object, "portSlot", 0), 1 << 20));
  object.read("reserved", group.is_reserved);
  if (const auto removal = object.optional("removalTimestamp"))
    group.is_removing = !removal->is_null();
  read_disks(object, shape, group);
  // Of the status, but nothing to placement.
  for (const char* name :
       {"addresses", "exclusionTimestamp", "processGroupConditions", "processes"}) {
    (void)object.optional(name);
  }
  object.finish();
  return group;
}

void read_exact(const JsonReader& reader, place::ClusterDemand& cluster) {
  for (const JsonReader& item : reader.items(kUnitsMax)) {
    ObjectReader object(item);
    const std::string process_class = read_string(object, "processClass", "storage");
    const std::string name = read_string(object, "set", "default");
    place::CountPerLabel exact;
    if (const auto label = object.required("label")) exact.label = label->string().value_or("");
    if (const auto counts = object.required("counts")) {
      for (const auto& [value, count] : ObjectReader(*counts).members()) {
        exact.counts[value] = static_cast<int>(count.integer(0, 1'000'000).value_or(0));
      }
    }
    object.finish();
    bool is_found = false;
    for (place::ClassDemand& demand : cluster.classes) {
      for (place::SetDemand& set : demand.sets) {
        if (demand.process_class != process_class || set.name != name) continue;
        is_found = true;
        if (set.exact) item.refuse(process_class + " set " + name + " has its counts already");
        set.exact = exact;
      }
    }
    if (!is_found) item.refuse("the spec has no " + process_class + " set " + name);
  }
}

void read_cluster(const JsonReader& reader, const JsonValue& value, Violations& violations,
                  Fleet& fleet) {
  ObjectReader object(reader);
  const auto spec = object.required("spec");
  place::ClusterDemand cluster;
  if (spec) {
    const JsonValue* document = nullptr;
    if (const auto* members = std::get_if<JsonValue::Object>(&value.data)) {
      for (const auto& [name, member] : *members)
        document = name == "spec" ? &member : document;
    }
    const auto parsed = check_cluster_spec(print_json(*document, JsonLayout::compact));
    if (parsed) {
      cluster = place::demand_of(*parsed);
    } else {
      for (const Violation& violation : parsed.error()) {
        violations.push_back({spec->path() + violation.path.substr(1), violation.message});
      }
    }
  }
  object.read("healthy", cluster.is_healthy);
  if (const auto exact = object.optional("exactCounts")) read_exact(*exact, cluster);
  if (const auto groups = object.optional("processGroups")) {
    for (const auto& [id, group] : ObjectReader(*groups).members()) {
      fleet.groups.push_back(read_group(id, group, cluster));
    }
  }
  object.finish();
  fleet.clusters.push_back(std::move(cluster));
}

}  // namespace

Reading<Fleet> check_fleet(std::string_view json) {
  Violations violations;
  Fleet fleet;
  const std::optional<JsonValue> document = parse_json(json, violations, kLimits);
  if (!document) return tl::unexpected(std::move(violations));
  ObjectReader object(JsonReader(*document, violations));
  if (const auto hosts = object.required("hosts")) {
    for (const JsonReader& item : hosts->items(kHostsMax))
      fleet.hosts.push_back(read_host(item));
  }
  if (const auto clusters = object.required("clusters")) {
    const JsonValue* list = nullptr;
    if (const auto* members = std::get_if<JsonValue::Object>(&document->data)) {
      for (const auto& [name, member] : *members)
        list = name == "clusters" ? &member : list;
    }
    const std::vector<JsonReader> items = clusters->items(kHostsMax);
    for (std::size_t i = 0; i < items.size(); ++i) {
      read_cluster(items[i], std::get<JsonValue::Array>(list->data)[i], violations, fleet);
    }
  }
  object.finish();
  if (!violations.empty()) return tl::unexpected(std::move(violations));
  return fleet;
}

Result<Fleet> read_fleet(std::string_view json) {
  auto fleet = check_fleet(json);
  if (!fleet) return fail(ErrorCode::invalid_argument, to_string(fleet.error()));
  return *std::move(fleet);
}

}  // namespace fdbpack::wire
