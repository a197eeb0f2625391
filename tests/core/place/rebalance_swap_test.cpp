// SPDX-License-Identifier: Apache-2.0
//
// Swaps where a host has several units that a disk may go to, and where old and new groups are on
// their hosts at the same time. A failure of the property prints its seed; FDBPACK_SEED=n replays
// it.
#include "builders.hpp"
#include "fdbpack/place/rebalance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace fdbpack::place {
namespace {

using testing::build;
using testing::cluster;
using testing::first_seed;
using testing::group;
using testing::host;
using testing::seed_count;
using testing::set;

const UnitKind kA{"file", "a", {}};
const UnitKind kB{"file", "b", {}};
const UnitKind kAnyFile{"file", "", {}};  // the type alone: any of a host's file units will do

Shape shape_on(const UnitKind& kind, std::int64_t disk_mib, std::int64_t cpu_milli,
               std::int64_t memory_mib, int servers = 1) {
  Shape out;
  out.cpu_milli = cpu_milli;
  out.memory_mib = memory_mib;
  out.servers = servers;
  out.disks.push_back({kind, disk_mib});
  return out;
}

Host host_with(const std::string& id, std::int64_t cores, std::int64_t memory_mib,
               std::vector<Unit> units) {
  Host out = host(id, 0, cores, memory_mib);
  out.units = std::move(units);
  return out;
}

Group group_of(const std::string& process_class, int number, const std::string& on,
               const Shape& shape, int slot, const UnitKind& unit, std::int64_t used_mib) {
  Group out = group(process_class + "-" + std::to_string(number), on, "", slot, 0);
  out.process_class = process_class;
  out.cpu_milli = shape.cpu_milli;
  out.memory_mib = shape.memory_mib;
  out.servers = shape.servers;
  out.disks.push_back({unit, shape.disks[0].size_mib, used_mib});
  return out;
}

// Of the violations, those of room that a host has but once.
std::size_t double_bookings(const Fleet& fleet) {
  const std::vector<Violation> all = violations(build(fleet));
  return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](const Violation& v) {
    return v.rule == "port_slot" || v.rule == "storage_room" || v.rule == "cpu" ||
           v.rule == "memory";
  }));
}

// Carries the moves out step by step: a swap is one step, in which all four groups are there.
void expect_sound(const Fleet& start, const Rebalance& result) {
  EXPECT_FALSE(result.is_budget_spent);
  Fleet fleet = start;
  double score = result.before.score();
  for (std::size_t i = 0; i < result.moves.size();) {
    SCOPED_TRACE("move " + std::to_string(i + 1));
    Rebalance step;
    const std::size_t end = i + (result.moves[i].is_swap ? 2 : 1);
    ASSERT_LE(end, result.moves.size());
    for (; i < end; ++i)
      step.moves.push_back(result.moves[i]);
    Fleet both = fleet;
    for (const Replacement& move : step.moves)
      both.groups.push_back(move.group);
    EXPECT_LE(double_bookings(both), double_bookings(fleet));
    fleet = apply(fleet, step);
    const Inventory after = build(fleet);
    const double now = measure(PlacementState(after)).score();
    EXPECT_NEAR(step.moves.back().score, now, 1e-9);
    if (step.moves[0].why == "score") {
      EXPECT_LT(now, score);
    }
    score = now;
  }
}

// A swap whose second half finds another unit free once the first half is gone: what was promised
// must be what is done, or it is proposed for ever.
TEST(RebalanceSwap, EndsWhereAGroupMayTakeEitherUnit) {
  const Shape storage = shape_on(kA, 61440, 500, 8192, 2);
  const Shape log = shape_on(kAnyFile, 61440, 2000, 1024);
  Fleet fleet;
  fleet.hosts = {
      host_with("h1", 8, 131072, {{kA, 204800, 149666}, {kB, 102400, 90660}}),
      host_with("h2", 16, 32768, {{kA, 102400, 43263}, {{"lvm", "v", {"x"}}, 204800, 204800}}),
      host_with("h3", 16, 131072, {{kA, 307200, 183009}}),
      host_with("h4", 32, 65536, {{kB, 102400, 102400}}),
      host_with("h5", 16, 65536, {{kA, 204800, 165545}, {kB, 204800, 204800}})};
  for (const std::size_t small : {1u, 2u, 3u})
    fleet.hosts[small].port_slots = 10;
  fleet.clusters = {cluster({set(5, storage)})};
  fleet.clusters[0].redundancy_mode = "triple";
  fleet.clusters[0].classes.push_back({"log", {set(8, log), set(2, log, "x")}});
  fleet.groups = {group_of("storage", 2, "h3", storage, 0, kA, 38881),
                  group_of("storage", 3, "h3", storage, 2, kA, 59204),
                  group_of("storage", 7, "h3", storage, 4, kA, 25441),
                  group_of("log", 2, "h1", log, 1, kA, 55134),
                  group_of("log", 3, "h5", log, 0, kA, 38686),
                  group_of("log", 4, "h5", log, 1, kA, 569),
                  group_of("log", 5, "h3", log, 6, kA, 665)};
  fleet.groups.back().set = "x";
  const Inventory inventory = build(fleet);
  Planner planner(inventory);
  const Rebalance result = rebalance(planner, {});
  EXPECT_TRUE(std::any_of(result.moves.begin(), result.moves.end(),
                          [](const Replacement& move) { return move.is_swap; }));
  EXPECT_LE(result.moves.size(), 8u);
  expect_sound(fleet, result);
}

// The old group listens until its replacement has the data.
TEST(RebalanceSwap, GivesNobodyThePortSlotOfARunningProcess) {
  const Shape large = shape_on(kA, 300, 1000, 1000);
  const Shape small = shape_on(kA, 100, 1000, 1000);
  Fleet fleet;
  fleet.hosts = {host_with("h1", 16, 64000, {{kA, 1000, 1000}}),
                 host_with("h2", 16, 64000, {{kA, 1000, 1000}})};
  fleet.clusters = {cluster({set(2, large, "large"), set(2, small, "small")})};
  fleet.groups = {
      group_of("storage", 1, "h1", large, 0, kA, 0), group_of("storage", 2, "h1", large, 1, kA, 0),
      group_of("storage", 3, "h2", small, 0, kA, 0), group_of("storage", 4, "h2", small, 1, kA, 0)};
  fleet.groups[0].set = fleet.groups[1].set = "large";
  fleet.groups[2].set = fleet.groups[3].set = "small";
  const Inventory inventory = build(fleet);
  Planner planner(inventory);
  const Rebalance result = rebalance(planner, {});
  ASSERT_EQ(result.moves.size(), 2u);
  EXPECT_TRUE(result.moves[0].is_swap);
  EXPECT_EQ(result.moves[0].group.port_slot, 2);
  EXPECT_EQ(result.moves[1].group.port_slot, 2);
  EXPECT_NEAR(result.after.score(), 0.0, 1e-9);
  expect_sound(fleet, result);
}

Fleet fleet_with_choice(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto pick = [&](std::uint64_t below) {
    return static_cast<std::int64_t>(random() % below);
  };
  Fleet fleet;
  const auto hosts = static_cast<std::size_t>(3 + pick(4));
  for (std::size_t h = 0; h < hosts; ++h) {
    std::vector<Unit> units;
    for (const UnitKind& kind : {kA, kB}) {
      const std::int64_t total = 100'000 * (1 + pick(3));
      if (units.empty() || pick(4) > 0) units.push_back({kind, total, total});
    }
    fleet.hosts.push_back(host_with("h" + std::to_string(h + 1), 8 * (1 + pick(3)),
                                    32768 * (1 + pick(4)), std::move(units)));
    fleet.hosts.back().port_slots = static_cast<int>(pick(2) == 0 ? 10 : 100);
  }
  fleet.clusters = {cluster({})};
  fleet.clusters[0].classes.clear();
  std::vector<int> slots(hosts);
  for (const std::string process_class : {"log", "storage"}) {
    const Shape shape =
        shape_on(process_class == "log" || pick(2) == 0 ? kAnyFile : kA, 20'000 * (1 + pick(3)),
                 500 * (1 + pick(4)), 1024 * (1 + pick(8)), static_cast<int>(1 + pick(2)));
    const int count = static_cast<int>(2 + pick(7));
    fleet.clusters[0].classes.push_back({process_class, {set(count, shape)}});
    for (int i = 0; i < count; ++i) {
      const auto h = static_cast<std::size_t>(pick(hosts));
      Unit& unit = fleet.hosts[h].units[static_cast<std::size_t>(
          pick(process_class == "log" ? fleet.hosts[h].units.size() : 1))];
      const std::int64_t size = shape.disks[0].size_mib;
      if (unit.free_mib < size || slots[h] + shape.servers > 8) continue;
      unit.free_mib -= size;
      fleet.groups.push_back(
          group_of(process_class, i + 1, fleet.hosts[h].id, shape, slots[h], unit.kind, size));
      slots[h] += shape.servers;
    }
  }
  return fleet;
}

TEST(RebalanceSwapProperty, EndsAndEveryStepForTheScoreLowersIt) {
  std::size_t swaps = 0;
  for (std::uint64_t seed = first_seed(), n = 0; n < seed_count(2000); ++seed, ++n) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Fleet fleet = fleet_with_choice(seed);
    const Inventory inventory = build(fleet);
    Planner planner(inventory);
    const Rebalance result = rebalance(planner, {});
    expect_sound(fleet, result);
    for (const Replacement& move : result.moves)
      swaps += move.is_swap ? 1 : 0;
    if (HasFailure()) return;
  }
  if (seed_count(2) > 1) {
    EXPECT_GT(swaps, 0u);
  }
}

}  // namespace
}  // namespace fdbpack::place
