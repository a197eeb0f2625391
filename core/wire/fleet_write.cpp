// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/wire/fleet_json.hpp"

#include <algorithm>

namespace fdbpack::wire {
namespace {

using Object = JsonValue::Object;
using Array = JsonValue::Array;

JsonValue integer(std::int64_t value) {
  return JsonValue(value);
}

JsonValue cores(std::int64_t milli) {
  if (milli % 1000 == 0) return JsonValue(milli / 1000);
  return JsonValue(static_cast<double>(milli) / 1000.0);
}

JsonValue labels(const std::map<std::string, std::string>& map) {
  Object out;
  for (const auto& [name, value] : map)
    out.emplace_back(name, value);
  return out;
}

JsonValue unit_kind(const place::UnitKind& kind) {
  Array params;
  for (const std::string& param : kind.params)
    params.emplace_back(param);
  return Array{kind.type, kind.key, std::move(params)};
}

JsonValue host_json(const place::Host& host) {
  Array storage;
  for (const place::Unit& unit : host.units) {
    storage.emplace_back(Object{{"sunit", unit_kind(unit.kind)},
                                {"free", integer(unit.free_mib)},
                                {"total", integer(unit.total_mib)}});
  }
  Object out{{"id", host.id},
             {"labels", labels(host.labels)},
             {"cpu", cores(host.cpu_milli)},
             {"memoryMiB", integer(host.memory_mib)},
             {"storage", std::move(storage)}};
  if (host.port_slots != place::kPortSlotsMax)
    out.emplace_back("portSlots", integer(host.port_slots));
  if (host.is_draining) out.emplace_back("draining", true);
  if (host.is_unreachable) out.emplace_back("unreachable", true);
  return out;
}

Object set_json(const place::SetDemand& set) {
  Object out{{"count", integer(set.count)}};
  if (set.shape.servers > 1) out.emplace_back("serversPerDisk", integer(set.shape.servers));
  if (!set.shape.disks.empty()) {
    const place::DiskWish& disk = set.shape.disks.front();
    out.emplace_back("diskMiB", integer(disk.size_mib));
    Object unit{{"type", disk.kind.type}};
    if (!disk.kind.key.empty()) unit.emplace_back("key", disk.kind.key);
    if (!disk.kind.params.empty()) {
      Array params;
      for (const std::string& param : disk.kind.params)
        params.emplace_back(param);
      unit.emplace_back("params", std::move(params));
    }
    out.emplace_back("storageUnit", std::move(unit));
  }
  Object resources;
  if (set.shape.cpu_milli > 0) resources.emplace_back("cpu", cores(set.shape.cpu_milli));
  if (set.shape.memory_mib > 0) resources.emplace_back("memoryMiB", integer(set.shape.memory_mib));
  if (!resources.empty()) out.emplace_back("resources", std::move(resources));
  if (!set.hosts.empty()) out.emplace_back("hosts", labels(set.hosts));
  return out;
}

// What an extra set would inherit from `default` and does not want is said with null.
void deny_inheritance(const place::SetDemand& set, Object& out) {
  const auto add_missing = [&](const char* name, JsonValue value) {
    const bool is_there = std::any_of(out.begin(), out.end(),
                                      [&](const auto& member) { return member.first == name; });
    if (!is_there) out.emplace_back(name, std::move(value));
  };
  add_missing("serversPerDisk", integer(set.shape.servers));
  add_missing("diskMiB", JsonValue());
  add_missing("storageUnit", JsonValue());
  add_missing("hosts", Object{});
  Object resources{
      {"cpu", set.shape.cpu_milli > 0 ? cores(set.shape.cpu_milli) : JsonValue()},
      {"memoryMiB", set.shape.memory_mib > 0 ? integer(set.shape.memory_mib) : JsonValue()}};
  std::erase_if(out, [](const auto& member) { return member.first == "resources"; });
  out.emplace_back("resources", std::move(resources));
}

JsonValue class_json(const place::ClassDemand& demand) {
  Object out;
  Array extra;
  for (const place::SetDemand& set : demand.sets) {
    if (set.name == "default") {
      const Object fields = set_json(set);
      out.insert(out.begin(), fields.begin(), fields.end());
      continue;
    }
    Object fields = set_json(set);
    deny_inheritance(set, fields);
    fields.insert(fields.begin(), {"name", set.name});
    extra.emplace_back(std::move(fields));
  }
  if (!extra.empty()) out.emplace_back("extra", std::move(extra));
  return out;
}

JsonValue spec_json(const place::ClusterDemand& cluster) {
  Object processes;
  for (const place::ClassDemand& demand : cluster.classes) {
    processes.emplace_back(demand.process_class, class_json(demand));
  }
  const place::Distribution& d = cluster.distribution;
  Object distribution{{"enabled", d.is_enabled}};
  if (d.desired_domains > 0)
    distribution.emplace_back("desiredFaultDomains", integer(d.desired_domains));
  distribution.emplace_back("required", d.is_required);
  distribution.emplace_back("physicalDomain", d.physical_domain);
  return Object{{"name", cluster.name},
                {"version", "7.1.61"},
                {"database", Object{{"redundancyMode", cluster.redundancy_mode}}},
                {"processes", std::move(processes)},
                {"distribution", std::move(distribution)}};
}

JsonValue group_json(const place::Group& group) {
  Object out{{"processClass", group.process_class},
             {"set", group.set},
             {"host", group.host},
             {"faultDomain", group.fault_domain},
             {"serversPerDisk", integer(group.servers)},
             {"portSlot", integer(group.port_slot)},
             {"cpu", cores(group.cpu_milli)},
             {"memoryMiB", integer(group.memory_mib)}};
  if (group.disks.size() > 1) {
    Array disks;
    for (const place::PlacedDisk& disk : group.disks) {
      disks.emplace_back(Object{{"storageUnit", unit_kind(disk.unit)},
                                {"sizeMiB", integer(disk.size_mib)},
                                {"usedMiB", integer(disk.used_mib)}});
    }
    out.emplace_back("disks", std::move(disks));
  } else if (!group.disks.empty()) {
    out.emplace_back("storageUnit", unit_kind(group.disks.front().unit));
    out.emplace_back("diskMiB", integer(group.disks.front().size_mib));
    out.emplace_back("usedMiB", integer(group.disks.front().used_mib));
  }
  if (group.is_removing) out.emplace_back("removalTimestamp", "1970-01-01T00:00:00Z");
  if (group.is_reserved) out.emplace_back("reserved", true);
  return out;
}

JsonValue exact_json(const place::ClusterDemand& cluster) {
  Array out;
  for (const place::ClassDemand& demand : cluster.classes) {
    for (const place::SetDemand& set : demand.sets) {
      if (!set.exact) continue;
      Object counts;
      for (const auto& [value, count] : set.exact->counts)
        counts.emplace_back(value, integer(count));
      out.emplace_back(Object{{"processClass", demand.process_class},
                              {"set", set.name},
                              {"label", set.exact->label},
                              {"counts", std::move(counts)}});
    }
  }
  return out;
}

}  // namespace

std::string write_fleet(const place::Fleet& fleet) {
  Array hosts;
  for (const place::Host& host : fleet.hosts)
    hosts.push_back(host_json(host));
  Array clusters;
  for (const place::ClusterDemand& cluster : fleet.clusters) {
    Object groups;
    for (const place::Group& group : fleet.groups) {
      if (group.cluster == cluster.name) groups.emplace_back(group.id, group_json(group));
    }
    Object out{{"spec", spec_json(cluster)}, {"healthy", cluster.is_healthy}};
    JsonValue exact = exact_json(cluster);
    if (!std::get<Array>(exact.data).empty()) out.emplace_back("exactCounts", std::move(exact));
    out.emplace_back("processGroups", std::move(groups));
    clusters.emplace_back(std::move(out));
  }
  return print_json(Object{{"hosts", std::move(hosts)}, {"clusters", std::move(clusters)}},
                    JsonLayout::indented);
}

}  // namespace fdbpack::wire
