// SPDX-License-Identifier: Apache-2.0
//
// Short ways to say what a fleet is, for tests.
#pragma once

#include "fdbpack/place/inventory.hpp"
#include "fdbpack/place/plan.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace fdbpack::place::testing {

inline const UnitKind kNvme{"file", "nvme", {}};

inline Host host(std::string id, std::int64_t disk_mib = 1000, std::int64_t cores = 16,
                 std::int64_t memory_mib = 64000) {
  Host out;
  out.id = std::move(id);
  out.cpu_milli = cores * 1000;
  out.memory_mib = memory_mib;
  out.units.push_back({kNvme, disk_mib, disk_mib});
  return out;
}

inline Host host_in(std::string id, std::string label, std::string value,
                    std::int64_t disk_mib = 1000) {
  Host out = host(std::move(id), disk_mib);
  out.labels[std::move(label)] = std::move(value);
  return out;
}

inline Shape shape(std::int64_t disk_mib = 100, std::int64_t cores = 1,
                   std::int64_t memory_mib = 1000) {
  Shape out;
  out.cpu_milli = cores * 1000;
  out.memory_mib = memory_mib;
  if (disk_mib > 0) out.disks.push_back({kNvme, disk_mib});
  return out;
}

inline SetDemand set(int count, Shape what = shape(), std::string name = "default") {
  SetDemand out;
  out.name = std::move(name);
  out.count = count;
  out.shape = std::move(what);
  return out;
}

inline ClusterDemand cluster(std::vector<SetDemand> storage_sets, int domains = 0,
                             bool is_required = false) {
  ClusterDemand out;
  out.name = "c";
  out.redundancy_mode = "single";
  out.distribution.is_enabled = domains > 0;
  out.distribution.desired_domains = domains;
  out.distribution.is_required = is_required;
  out.classes.push_back({"storage", std::move(storage_sets)});
  return out;
}

inline Group group(std::string id, std::string on, std::string zone = "", int slot = 0,
                   std::int64_t disk_mib = 100) {
  Group out;
  out.id = std::move(id);
  out.cluster = "c";
  out.process_class = "storage";
  out.host = std::move(on);
  out.fault_domain = std::move(zone);
  out.cpu_milli = 1000;
  out.memory_mib = 1000;
  out.port_slot = slot;
  if (disk_mib > 0) out.disks.push_back({kNvme, disk_mib, 0});
  return out;
}

inline Inventory build(Fleet fleet) {
  Result<Inventory> inventory = Inventory::build(std::move(fleet));
  EXPECT_TRUE(inventory.has_value()) << (inventory ? "" : inventory.error().message);
  if (!inventory) std::abort();
  return *std::move(inventory);
}

inline FleetPlan plan_of(const Inventory& inventory, const PlanOptions& options = {}) {
  Planner planner(inventory);
  Result<FleetPlan> result = plan(planner, options);
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
  return result ? *std::move(result) : FleetPlan{};
}

// The seed of a property test: FDBPACK_SEED replays one, FDBPACK_CASES says how many.
inline std::uint64_t first_seed() {
  const char* text = std::getenv("FDBPACK_SEED");
  return text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
}
inline std::uint64_t seed_count(std::uint64_t usual) {
  if (std::getenv("FDBPACK_SEED") != nullptr) return 1;
  const char* text = std::getenv("FDBPACK_CASES");
  return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

}  // namespace fdbpack::place::testing
