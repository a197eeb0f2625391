// SPDX-License-Identifier: Apache-2.0
#include "fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace fdbpack::place::htools {
namespace {

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

std::optional<Lack> compare(const Spec& limit, const Instance& wanted, bool is_exclusive,
                            bool is_upper) {
  const auto is_beyond = [&](std::int64_t value, std::int64_t bound) {
    return is_upper ? value > bound : value < bound;
  };
  if (is_beyond(wanted.memory, limit.memory)) return Lack::memory;
  const std::vector<std::int64_t> whole{wanted.disk};
  const std::vector<std::int64_t>& sizes = wanted.disks.empty() ? whole : wanted.disks;
  const bool has_bad_disk = std::any_of(
      sizes.begin(), sizes.end(), [&](std::int64_t size) { return is_beyond(size, limit.disk); });
  if (has_bad_disk) return Lack::disk;
  if (is_beyond(wanted.vcpus, limit.vcpus)) return Lack::cpu;
  if (is_exclusive && !wanted.spindles) return Lack::spindles;
  if (is_beyond(is_exclusive ? *wanted.spindles : wanted.spindle_use, limit.spindle_use))
    return Lack::spindles;
  const bool has_bad_count = wanted.disk_template != Template::diskless &&
                             is_beyond(static_cast<std::int64_t>(sizes.size()), limit.disk_count);
  return has_bad_count ? std::optional(Lack::disk_count) : std::nullopt;
}

std::int64_t amount_of(const Spec& spec, Lack lack) {
  switch (lack) {
    case Lack::memory:
      return spec.memory;
    case Lack::disk:
      return spec.disk;
    case Lack::cpu:
      return spec.vcpus;
    case Lack::spindles:
      return spec.spindle_use;
    case Lack::tags:
    case Lack::disk_count:
    case Lack::offline:
      return 0;
  }
  return 0;
}

// Keeps the largest bound that is below the amount.
class Highest {
 public:
  explicit Highest(std::int64_t amount) : amount_(amount) {}

  // The answer may differ between amounts up to `bound` and those above it.
  void above(std::int64_t bound) {
    if (bound < amount_) found_ = std::max(found_, bound);
  }
  // Between amounts below `bound` and those from it on.
  void from(std::int64_t bound) {
    if (bound > kNone) above(bound - 1);
  }
  [[nodiscard]] std::int64_t found() const { return found_; }

 private:
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();
  std::int64_t amount_;
  std::int64_t found_ = kNone;
};

// Floating point decides there: one to each side is added, which costs a look and no more.
void add_cpu_change(const Node& node, const Policy& policy, const NodeLoad& load, Highest& out) {
  const double limit = std::floor(policy.vcpu_ratio * node.cores);
  if (!(std::abs(limit) < 1e15)) return;  // no amount comes near
  const std::int64_t left = static_cast<std::int64_t>(limit) - load.vcpus;
  for (const std::int64_t bound : {left - 1, left, left + 1})
    out.above(bound);
}

}  // namespace

// Each bound that compare() and refuse() look at. One too many is harmless, one too few is not.
std::int64_t next_change(const Cluster& cluster, std::size_t n, const NodeLoad& load, Lack lack,
                         std::int64_t amount) {
  const Node& node = cluster.nodes[n];
  const Policy& policy = cluster.groups[node.group].policy;
  Highest out(amount);
  for (const SpecRange& range : policy.ranges) {
    out.from(amount_of(range.min, lack));
    out.above(amount_of(range.max, lack));
  }
  switch (lack) {
    case Lack::memory:
      out.from(load.unallocated);
      out.from(load.unallocated - load.reserved);
      out.from(load.memory_forth);
      break;
    case Lack::disk:
      out.from(node.free_disk);
      for (const StorageUnit& unit : node.storage)
        out.above(unit.free);
      break;
    case Lack::cpu:
      add_cpu_change(node, policy, load, out);
      break;
    case Lack::spindles:
      out.above(node.free_spindles);
      break;
    case Lack::tags:
    case Lack::disk_count:
    case Lack::offline:
      break;
  }
  return out.found();
}

Error too_many_instances() {
  return {ErrorCode::invalid_argument,
          fmt::format("more than {} instances of the policy's specification fit", kForecastMax)};
}

std::optional<Lack> policy_lack(const Policy& policy, const Instance& wanted, bool is_exclusive) {
  std::optional<Lack> first;
  bool is_within = policy.ranges.empty();
  for (auto range = policy.ranges.begin(); range != policy.ranges.end() && !is_within; ++range) {
    std::optional<Lack> lack = compare(range->min, wanted, is_exclusive, false);
    if (!lack) lack = compare(range->max, wanted, is_exclusive, true);
    is_within = !lack;
    if (!first) first = lack;
  }
  if (!is_within) return first;
  const bool has_template = policy.templates.empty() ||
                            std::find(policy.templates.begin(), policy.templates.end(),
                                      to_string(wanted.disk_template)) != policy.templates.end();
  return has_template ? std::nullopt : std::optional(Lack::disk);
}

// The order is the reference programs'.
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

}  // namespace fdbpack::place::htools
