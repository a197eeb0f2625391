// SPDX-License-Identifier: Apache-2.0
//
// A Ganeti cluster as its htools read it, so that our engine and hbal, hail and hspace can be run
// on one file. Sizes are MiB. See text.hpp for the file format.
//
// The storage units of the storage-unit design are an addition: a node that lists them can hold a
// disk only on one unit of the disk's type, and the single free-disk number is not looked at.
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/model/storage_unit.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fdbpack::place::htools {

struct Spec {
  std::int64_t memory = 0;
  std::int64_t vcpus = 0;
  std::int64_t disk = 0;
  std::int64_t disk_count = 1;
  std::int64_t nic_count = 1;
  std::int64_t spindle_use = 1;
};

struct SpecRange {
  Spec min;
  Spec max;
};

struct Policy {
  Spec standard{128, 1, 1024, 1, 1, 1};
  std::vector<SpecRange> ranges{{{128, 1, 1024, 1, 1, 1}, {32768, 8, 1048576, 16, 8, 12}}};
  std::vector<std::string> templates;
  double vcpu_ratio = 4.0;
  double spindle_ratio = 32.0;
};

struct Group {
  std::string name;
  std::string uuid;
  std::string alloc_policy;  // preferred, last_resort or unallocable
  Policy policy;
};

struct StorageUnit {
  model::StorageUnitId id;
  std::int64_t free = 0;
  std::int64_t total = 0;
};

struct Node {
  std::string name;
  double total_memory = 0;
  std::int64_t node_memory = 0;
  std::int64_t free_memory = 0;
  double total_disk = 0;
  std::int64_t free_disk = 0;
  double cores = 0;
  std::int64_t node_cpus = 1;
  double cpu_speed = 1.0;
  std::int64_t spindles = 1;
  std::int64_t free_spindles = 0;
  bool is_offline = false;
  bool is_master = false;
  bool has_exclusive_storage = false;
  std::vector<std::string> tags;
  std::size_t group = 0;
  std::vector<StorageUnit> storage;  // empty: the old single-number rule
};

enum class Template { diskless, file, sharedfile, plain, blockdev, drbd, rbd, ext, gluster };
[[nodiscard]] std::optional<Template> parse_template(std::string_view name);
[[nodiscard]] std::string_view to_string(Template disk_template);
[[nodiscard]] bool uses_node_disk(
    Template disk_template);  // drbd and plain: counted in a node's disk space
// Lives on one node and can be moved to any other: what our balancer moves.
[[nodiscard]] bool is_movable_single(Template disk_template);
[[nodiscard]] std::vector<std::string_view> storage_types(
    Template disk_template);  // that can hold its disks

inline constexpr std::int32_t kNoNode = -1;

struct Instance {
  std::string name;
  std::int64_t memory = 0;
  std::int64_t disk = 0;
  std::vector<std::int64_t> disks;  // each disk's size when it is known; empty: one disk of `disk`
  std::int64_t vcpus = 0;
  std::string status;
  bool is_auto_balanced = true;
  std::int32_t primary = kNoNode;
  std::int32_t secondary = kNoNode;
  Template disk_template = Template::diskless;
  std::vector<std::string> tags;
  std::int64_t spindle_use = 1;
  std::optional<std::int64_t> spindles;
  bool is_forthcoming = false;
};
[[nodiscard]] bool uses_memory(const Instance& instance);
[[nodiscard]] bool is_switched_off(const Instance& instance);  // ADMIN_offline: takes no CPU either

struct Cluster {
  std::vector<Group> groups;
  std::vector<Node> nodes;
  std::vector<Instance> instances;
  std::vector<std::string> tags;
  Policy policy;  // of the cluster
};

// The nodes of one group, by index; all when the cluster has one group and `name` is empty.
[[nodiscard]] Result<std::vector<std::int32_t>> nodes_of_group(const Cluster& cluster,
                                                               std::string_view name);

}  // namespace fdbpack::place::htools
