// SPDX-License-Identifier: Apache-2.0
#include "validate.hpp"

#include "fdbpack/model/process_class.hpp"
#include "fdbpack/place/demand.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace fdbpack::place {
namespace {

Status refuse(std::string message) {
  return fail(ErrorCode::invalid_argument, std::move(message));
}

Status check_host(const Host& host) {
  if (host.id.empty()) return refuse("a host has no id");
  if (host.cpu_milli < 0) return refuse(fmt::format("host {}: cpu is negative", host.id));
  if (host.memory_mib < 0) return refuse(fmt::format("host {}: memory is negative", host.id));
  if (host.port_slots < 0 || host.port_slots > kPortSlotsMax) {
    return refuse(fmt::format("host {}: {} port slots, must be 0 to {}", host.id, host.port_slots,
                              kPortSlotsMax));
  }
  for (const Unit& unit : host.units) {
    const std::string name = to_string(unit.kind);
    if (unit.kind.type.empty() || unit.kind.key.empty()) {
      return refuse(
          fmt::format("host {}: storage unit '{}' needs a type and a key", host.id, name));
    }
    if (unit.total_mib < 0 || unit.free_mib < 0) {
      return refuse(fmt::format("host {}: storage unit {} has a negative capacity", host.id, name));
    }
    if (unit.free_mib > unit.total_mib) {
      return refuse(fmt::format("host {}: storage unit {} has {} MiB free of only {} MiB", host.id,
                                name, unit.free_mib, unit.total_mib));
    }
  }
  return {};
}

Status check_shape(const Shape& shape, const std::string& where) {
  if (shape.cpu_milli < 0 || shape.memory_mib < 0) {
    return refuse(where + ": cpu and memory must not be negative");
  }
  if (shape.servers < 1 || shape.servers > kServersMax) {
    return refuse(
        fmt::format("{}: {} servers per disk, must be 1 to {}", where, shape.servers, kServersMax));
  }
  for (const DiskWish& disk : shape.disks) {
    if (disk.kind.type.empty()) return refuse(where + ": a disk needs a storage unit type");
    if (disk.size_mib <= 0) return refuse(where + ": a disk must be larger than 0 MiB");
  }
  return {};
}

Status check_set(const SetDemand& set, const std::string& where) {
  if (set.name.empty()) return refuse(where + ": a set has no name");
  if (set.count < 0) return refuse(fmt::format("{}: count {} is negative", where, set.count));
  FDBPACK_TRY_VOID(check_shape(set.shape, where));
  if (!set.exact) return {};
  int sum = 0;
  for (const auto& [value, count] : set.exact->counts) {
    if (count < 0) return refuse(fmt::format("{}: count for {} is negative", where, value));
    sum += count;
  }
  if (sum != set.count) {
    return refuse(fmt::format("{}: the counts per {} add up to {}, the set has {}; make them equal",
                              where, set.exact->label, sum, set.count));
  }
  return {};
}

Status check_cluster(const ClusterDemand& cluster) {
  if (cluster.name.empty()) return refuse("a cluster has no name");
  const std::string where = "cluster " + cluster.name;
  if (fault_domains_needed(cluster.redundancy_mode) == 0) {
    return refuse(
        fmt::format("{}: redundancy mode '{}' is not known", where, cluster.redundancy_mode));
  }
  if (cluster.distribution.desired_domains < 0) {
    return refuse(where + ": desired fault domains must not be negative");
  }
  if (cluster.distribution.physical_domain.empty()) {
    return refuse(where + ": the physical domain is empty; say host or a host label");
  }
  for (const ClassDemand& demand : cluster.classes) {
    if (demand.process_class.empty()) return refuse(where + ": a process class has no name");
    for (const SetDemand& set : demand.sets) {
      const std::string set_where =
          fmt::format("{}: {} set {}", where, demand.process_class, set.name);
      FDBPACK_TRY_VOID(check_set(set, set_where));
    }
  }
  return {};
}

// `items` are sorted by `name`: equal names are neighbours.
template <class Items, class Name>
Status check_distinct(const Items& items, const Name& name, const std::string& what) {
  for (std::size_t i = 1; i < items.size(); ++i) {
    if (name(items[i]) == name(items[i - 1]))
      return refuse(what + " " + name(items[i]) + " is listed twice");
  }
  return {};
}

}  // namespace

Status check_values(const Fleet& fleet) {
  for (const Host& host : fleet.hosts)
    FDBPACK_TRY_VOID(check_host(host));
  for (const ClusterDemand& cluster : fleet.clusters)
    FDBPACK_TRY_VOID(check_cluster(cluster));
  return {};
}

Status check_duplicates(const Fleet& sorted) {
  FDBPACK_TRY_VOID(check_distinct(
      sorted.hosts, [](const Host& h) { return h.id; }, "host"));
  for (const Host& host : sorted.hosts) {
    FDBPACK_TRY_VOID(check_distinct(
        host.units, [](const Unit& u) { return to_string(u.kind); },
        "host " + host.id + ": storage unit"));
  }
  FDBPACK_TRY_VOID(check_distinct(
      sorted.clusters, [](const auto& c) { return c.name; }, "cluster"));
  for (const ClusterDemand& cluster : sorted.clusters) {
    FDBPACK_TRY_VOID(check_distinct(
        cluster.classes, [](const auto& k) { return k.process_class; },
        "cluster " + cluster.name + ": class"));
    for (const ClassDemand& demand : cluster.classes) {
      FDBPACK_TRY_VOID(check_distinct(
          demand.sets, [](const auto& s) { return s.name; },
          fmt::format("cluster {}: {} set", cluster.name, demand.process_class)));
    }
  }
  return check_distinct(
      sorted.groups, [](const Group& g) { return g.cluster + "/" + g.id; }, "process group");
}

Status check_group(const Inventory& inventory, const Group& group) {
  const std::string where = fmt::format("process group {}/{}", group.cluster, group.id);
  if (group.id.empty()) return refuse("a process group of cluster " + group.cluster + " has no id");
  if (inventory.find_cluster(group.cluster) == kNone) {
    return refuse(
        fmt::format("{}: there is no cluster {}; add it or drop the group", where, group.cluster));
  }
  if (inventory.find_host(group.host) == kNone) {
    return refuse(fmt::format("{}: there is no host '{}'; add the host or drop the group", where,
                              group.host));
  }
  if (group.process_class.empty()) return refuse(where + ": has no process class");
  if (!model::parse_process_class(group.process_class)) {
    return refuse(
        fmt::format("{}: '{}' is not a process class of FoundationDB; correct it or drop "
                    "the group",
                    where, group.process_class));
  }
  if (group.cpu_milli < 0 || group.memory_mib < 0)
    return refuse(where + ": takes a negative amount");
  if (group.servers < 1 || group.servers > kServersMax) {
    return refuse(
        fmt::format("{}: {} servers, must be 1 to {}", where, group.servers, kServersMax));
  }
  if (group.port_slot < 0 || group.port_slot + group.servers > kPortSlotsMax) {
    return refuse(fmt::format("{}: port slot {} is out of range", where, group.port_slot));
  }
  for (const PlacedDisk& disk : group.disks) {
    if (disk.size_mib < 0 || disk.used_mib < 0) {
      return refuse(fmt::format("{}: disk on {} has a negative size", where, to_string(disk.unit)));
    }
  }
  return {};
}

Status check_demand(const Inventory& inventory, Index scope_index) {
  const Scope& scope = inventory.scopes()[Inventory::to_size(scope_index)];
  if (scope.process_class == kNone || scope.desired_groups == 0) return {};
  const ClusterDemand& cluster = inventory.clusters()[Inventory::to_size(scope.cluster)];
  const std::string where = fmt::format("cluster {}: {}", cluster.name, scope.class_name);
  const PhysicalView& view = inventory.physical()[Inventory::to_size(scope.physical)];
  std::set<Index> domains;
  for (const SetRef& set : inventory.sets()) {
    if (set.scope != scope_index || set.demand->count == 0) continue;
    int hosts = 0;
    for (std::size_t h = 0; h < inventory.hosts().size(); ++h) {
      if (!has_labels(inventory.hosts()[h], set.demand->hosts)) continue;
      ++hosts;
      if (view.domain_of[h] != kNone) domains.insert(view.domain_of[h]);
    }
    if (hosts == 0) {
      return fail(
          ErrorCode::precondition,
          fmt::format("{} set {} wants {} groups and no host has its labels; label or add a host",
                      where, set.demand->name, set.demand->count));
    }
  }
  const int have = static_cast<int>(domains.size());
  const int copies =
      is_durable(scope.class_name) ? fault_domains_needed(cluster.redundancy_mode) : 1;
  if (scope.desired_groups < copies) {
    return fail(ErrorCode::precondition,
                fmt::format("{} has {} groups, redundancy mode {} needs {}; raise the count to {}",
                            where, scope.desired_groups, cluster.redundancy_mode, copies, copies));
  }
  if (scope.domains > 0 && scope.domains < copies) {
    return fail(
        ErrorCode::precondition,
        fmt::format(
            "{} has {} fault domains, redundancy mode {} needs {}; raise desiredFaultDomains",
            where, scope.domains, cluster.redundancy_mode, copies));
  }
  const int wanted = scope.is_required ? std::min(scope.domains, scope.desired_groups) : 0;
  const int needed = std::max(copies, wanted);
  if (have < needed && (scope.domains == 0 || scope.is_required)) {
    return fail(
        ErrorCode::precondition,
        fmt::format(
            "{} needs {} physical domains ({}), the fleet has {} for its sets; add {} more{}",
            where, needed, view.label, have, needed - have,
            scope.is_required ? " or make the separation a preference" : ""));
  }
  return {};
}

bool has_labels(const Host& host, const std::map<std::string, std::string>& labels) {
  return std::all_of(labels.begin(), labels.end(), [&](const auto& label) {
    const auto found = host.labels.find(label.first);
    return found != host.labels.end() && found->second == label.second;
  });
}

}  // namespace fdbpack::place
