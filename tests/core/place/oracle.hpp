// SPDX-License-Identifier: Apache-2.0
//
// A planner that tries everything. It shares no code with the engine: it goes through every
// assignment of groups to hosts and domains on plain values, so it can only be asked about a
// handful of hosts.
#pragma once

#include "fdbpack/place/fleet.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace fdbpack::place::testing {

// What the best assignment of `missing` groups of each set (by position) still has wrong with it.
struct OracleAnswer {
  int unplaced = 0;
  int violations = 0;
  int below_minimum = 0;

  auto operator<=>(const OracleAnswer&) const = default;
};

// One class, one disk per group, physical domain = host. Groups already there stay.
class Oracle {
 public:
  explicit Oracle(const Fleet& fleet) : fleet_(fleet), cluster_(fleet.clusters.at(0)) {
    for (const Host& host : fleet.hosts) {
      Room room{host.cpu_milli, host.memory_mib, host.units.at(0).free_mib, {}};
      rooms_.push_back(room);
    }
    domains_ = cluster_.distribution.is_enabled ? cluster_.distribution.desired_domains : 0;
    counts_.assign(static_cast<std::size_t>(std::max(domains_, 1)), 0);
    for (const Group& group : fleet.groups) {
      const std::size_t h = host_index(group.host);
      rooms_[h].cpu -= group.cpu_milli;
      rooms_[h].memory -= group.memory_mib;
      rooms_[h].disk -= group.disks.at(0).size_mib - group.disks.at(0).used_mib;
      if (domains_ > 0) ++rooms_[h].zones[group.fault_domain];
      if (domains_ > 0 && !group.is_removing) {
        for (int k = 0; k < domains_; ++k) {
          if (group.fault_domain == "storage-" + std::to_string(k))
            ++counts_[static_cast<std::size_t>(k)];
        }
      }
      if (!group.is_removing) {
        ++alive_;
        ++in_az_[{group.set, label(h, "az")}];
      }
    }
    for (const SetDemand& set : cluster_.classes.at(0).sets)
      desired_ += set.count;
  }

  // `wants`: position of the set of each missing group.
  OracleAnswer solve(const std::vector<std::size_t>& wants) {
    best_ = {static_cast<int>(wants.size()) + 1, 0, 0};
    descend(wants, 0, {});
    return best_;
  }

 private:
  struct Room {
    std::int64_t cpu;
    std::int64_t memory;
    std::int64_t disk;
    std::map<std::string, int> zones;
  };

  std::size_t host_index(const std::string& id) const {
    for (std::size_t h = 0; h < fleet_.hosts.size(); ++h) {
      if (fleet_.hosts[h].id == id) return h;
    }
    return 0;
  }
  std::string label(std::size_t h, const std::string& name) const {
    const auto found = fleet_.hosts[h].labels.find(name);
    return found == fleet_.hosts[h].labels.end() ? "" : found->second;
  }
  bool is_allowed(std::size_t h, const SetDemand& set) const {
    const Host& host = fleet_.hosts[h];
    if (host.is_draining || host.is_unreachable) return false;
    for (const auto& [name, value] : set.hosts) {
      if (label(h, name) != value) return false;
    }
    if (set.exact) {
      const auto target = set.exact->counts.find(label(h, "az"));
      if (target == set.exact->counts.end()) return false;
      const auto found = in_az_.find({set.name, label(h, "az")});
      const int have = found == in_az_.end() ? 0 : found->second;
      if (have >= target->second) return false;
    }
    const Shape& shape = set.shape;
    return rooms_[h].cpu >= shape.cpu_milli && rooms_[h].memory >= shape.memory_mib &&
           rooms_[h].disk >= shape.disks.at(0).size_mib;
  }

  void descend(const std::vector<std::size_t>& wants, std::size_t i, OracleAnswer so_far) {
    if (std::tuple(so_far.unplaced, so_far.violations) >
        std::tuple(best_.unplaced, best_.violations))
      return;
    if (i == wants.size()) {
      so_far.below_minimum = below_minimum();
      best_ = std::min(best_, so_far);
      return;
    }
    const SetDemand& set = cluster_.classes[0].sets[wants[i]];
    const int max = domains_ == 0 ? 0 : (std::max(desired_, alive_ + 1) + domains_ - 1) / domains_;
    for (std::size_t h = 0; h < fleet_.hosts.size(); ++h) {
      if (!is_allowed(h, set)) continue;
      for (int k = 0; k < std::max(domains_, 1); ++k) {
        if (domains_ > 0 && counts_[static_cast<std::size_t>(k)] >= max) continue;
        const std::string zone = "storage-" + std::to_string(k);
        int others = 0;
        if (domains_ > 0) {
          for (const auto& [name, count] : rooms_[h].zones)
            others += count > 0 && name != zone ? 1 : 0;
        }
        if (others > 0 && cluster_.distribution.is_required) continue;
        change(h, set, zone, k, 1);
        OracleAnswer next = so_far;
        next.violations += others;
        descend(wants, i + 1, next);
        change(h, set, zone, k, -1);
      }
    }
    ++so_far.unplaced;
    descend(wants, i + 1, so_far);
  }

  void change(std::size_t h, const SetDemand& set, const std::string& zone, int k, int sign) {
    rooms_[h].cpu -= sign * set.shape.cpu_milli;
    rooms_[h].memory -= sign * set.shape.memory_mib;
    rooms_[h].disk -= sign * set.shape.disks[0].size_mib;
    in_az_[{set.name, label(h, "az")}] += sign;
    alive_ += sign;
    if (domains_ == 0) return;
    rooms_[h].zones[zone] += sign;
    counts_[static_cast<std::size_t>(k)] += sign;
  }

  int below_minimum() const {
    if (domains_ == 0) return 0;
    const int min = std::min(desired_, alive_) / domains_;
    int sum = 0;
    for (const int count : counts_)
      sum += std::max(0, min - count);
    return sum;
  }

  const Fleet& fleet_;
  const ClusterDemand& cluster_;
  std::vector<Room> rooms_;
  std::map<std::pair<std::string, std::string>, int> in_az_;
  std::vector<int> counts_;
  int domains_ = 0;
  int alive_ = 0;
  int desired_ = 0;
  OracleAnswer best_;
};

}  // namespace fdbpack::place::testing
