// SPDX-License-Identifier: Apache-2.0
//
// What placement knows of the world, as plain values: the hosts, the process groups on them, and
// what each cluster asks for. It is the content of a fleet snapshot.
//
//   Fleet
//   ├── Host       labels, CPU, memory, port slots
//   │   └── Unit     one storage unit: (type, key, params), total and free MiB
//   ├── ClusterDemand
//   │   └── ClassDemand   storage, log, ...
//   │       └── SetDemand   default, az-2, ...: how many groups, on which hosts, of which shape
//   └── Group      a process group that runs or is reserved (decided, not running yet)
//
// A group is promised its disks in full: what it has not filled yet is not free for others.
#pragma once

#include "fdbpack/model/storage_unit.hpp"

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fdbpack::place {

// Process i of a group at slot s listens on 4499 + 2(s + i), so 30,518 slots end below port 65,536.
inline constexpr int kPortSlotsMax = 30518;
inline constexpr int kServersMax = 64;

// The identity of a storage unit. As a wish, an empty key means any unit of the type.
using UnitKind = model::StorageUnitId;

struct Unit {
  UnitKind kind;
  std::int64_t total_mib = 0;
  std::int64_t free_mib = 0;

  bool operator==(const Unit&) const = default;
};

struct Host {
  std::string id;
  std::map<std::string, std::string> labels;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  std::vector<Unit> units;
  int port_slots = kPortSlotsMax;
  bool is_draining = false;
  bool is_unreachable = false;

  bool operator==(const Host&) const = default;
};

struct DiskWish {
  UnitKind kind;
  std::int64_t size_mib = 0;

  auto operator<=>(const DiskWish&) const = default;
};

// What one process group takes of its host.
struct Shape {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  int servers = 1;  // fdbserver processes, one port slot each
  std::vector<DiskWish> disks;

  auto operator<=>(const Shape&) const = default;
};

// Exactly so many groups of a set on hosts whose `label` has this value, e.g. az-1: 3, az-2: 2.
struct CountPerLabel {
  std::string label;
  std::map<std::string, int> counts;

  bool operator==(const CountPerLabel&) const = default;
};

struct SetDemand {
  std::string name = "default";
  int count = 0;
  std::map<std::string, std::string> hosts;  // labels a host must have
  Shape shape;
  std::optional<CountPerLabel> exact;

  bool operator==(const SetDemand&) const = default;
};

struct ClassDemand {
  std::string process_class;
  std::vector<SetDemand> sets;

  bool operator==(const ClassDemand&) const = default;
};

// Logical fault domains. `physical_domain` is "host" or the name of a host label such as "rack".
struct Distribution {
  bool is_enabled = false;
  int desired_domains = 0;  // 0: the least that the redundancy mode needs
  bool is_required = false;
  std::string physical_domain = "host";

  bool operator==(const Distribution&) const = default;
};

struct ClusterDemand {
  std::string name;
  std::string redundancy_mode = "double";
  Distribution distribution;
  std::vector<ClassDemand> classes;
  bool is_healthy = true;  // the database: nothing is rebalanced while it is false

  bool operator==(const ClusterDemand&) const = default;
};

struct PlacedDisk {
  UnitKind unit;  // a unit of the host, never a wish
  std::int64_t size_mib = 0;
  std::int64_t used_mib = 0;

  bool operator==(const PlacedDisk&) const = default;
};

struct Group {
  std::string id;
  std::string cluster;
  std::string process_class;
  std::string set = "default";
  std::string host;
  std::string fault_domain;  // the zone ID; empty when zone = physical domain
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  int servers = 1;
  int port_slot = 0;
  std::vector<PlacedDisk> disks;
  bool is_removing = false;  // marked for removal: still on its host, no longer counted
  bool is_reserved = false;  // decided, not running yet

  bool operator==(const Group&) const = default;
};

struct Fleet {
  std::vector<Host> hosts;
  std::vector<ClusterDemand> clusters;
  std::vector<Group> groups;

  bool operator==(const Fleet&) const = default;
};

[[nodiscard]] std::string to_string(const UnitKind& kind);  // file:nvme, lvm-vg:ssd[false]
[[nodiscard]] bool matches(const UnitKind& wish, const UnitKind& unit);
// The physical domain the host is in: its own ID for "host", else the value of the label, or
// nothing.
[[nodiscard]] std::string label_of(const Host& host, const std::string& label);
[[nodiscard]] std::int64_t data_mib(const Group& group);  // what a replacement has to copy
// The fault domains a redundancy mode needs to keep its data; 0 for a mode that is not known.
[[nodiscard]] int fault_domains_needed(const std::string& redundancy_mode);
// Its processes keep data, in as many copies as the redundancy mode says.
[[nodiscard]] bool is_durable(const std::string& process_class);
[[nodiscard]] int desired_domains(const ClusterDemand& cluster);

}  // namespace fdbpack::place
