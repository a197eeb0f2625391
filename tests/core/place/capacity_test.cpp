// SPDX-License-Identifier: Apache-2.0
//
// How much more fits, and what a loss would mean.
#include "fdbpack/place/capacity.hpp"

#include "builders.hpp"

#include <gmock/gmock.h>

#include <map>

namespace fdbpack::place {
namespace {

using testing::build;
using testing::cluster;
using testing::group;
using testing::host;
using testing::host_in;
using testing::set;
using testing::shape;

TEST(CapacityForecast, CountsPerZoneAndSaysWhatRunsOut) {
  Fleet fleet;
  fleet.hosts = {host_in("h1", "az", "a", 450), host_in("h2", "az", "b", 9000)};
  fleet.hosts[1].cpu_milli = 3500;
  fleet.clusters = {cluster({set(1)})};
  const Inventory inventory = build(fleet);
  Planner planner(inventory);
  const Capacity result = *capacity(planner, {"c", "storage", "default", "az"});
  EXPECT_EQ(result.more, 7);
  EXPECT_EQ(result.per_value, (std::map<std::string, int>{{"a", 4}, {"b", 3}}));
  ASSERT_EQ(result.stops.size(), 2u);
  EXPECT_EQ(result.stops[0].constraint, Constraint::storage_room);
  EXPECT_EQ(result.stops[1].constraint, Constraint::cpu);
  std::map<std::string, std::int64_t> stranded;
  for (const Stranded& entry : result.stranded)
    stranded[entry.resource] = entry.amount;
  EXPECT_EQ(stranded["file:nvme"], 8700);  // behind h2's CPU
  EXPECT_EQ(stranded["cpu"], 12000);       // behind h1's disk
  // Nothing of the forecast stays.
  EXPECT_EQ(capacity(planner, {"c", "storage"})->more, 7);
  EXPECT_FALSE(capacity(planner, {"c", "log"}).has_value());
  EXPECT_EQ(capacity(planner, {"c", "storage", "default", "bogus"}).error().message,
            "no host has a label bogus to count by");
}

TEST(CapacityForecast, SeparationLimitsWhatFits) {
  Fleet fleet;
  fleet.hosts = {host("h1", 300), host("h2", 300), host("h3", 300)};
  fleet.clusters = {cluster({set(2)}, 2, true)};
  const Inventory inventory = build(fleet);
  Planner planner(inventory);
  // Two domains of one host each are level at 3; the third host takes one domain to 6 and leaves
  // the other at 3, but no domain may be more than one ahead.
  EXPECT_EQ(capacity(planner, {"c", "storage"})->more, 7);
}

TEST(Survival, FindsTheDomainThatCannotBeLost) {
  Fleet fleet;
  fleet.hosts = {host("h1", 300), host("h2", 100), host("h3", 100)};
  fleet.clusters = {cluster({set(4)})};
  fleet.groups = {group("storage-1", "h1"), group("storage-2", "h1", "", 1),
                  group("storage-3", "h2")};
  const Inventory inventory = build(fleet);
  Planner planner(inventory);
  const std::vector<Loss> all = *survive(planner, "host", "");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].domain, "h1");
  EXPECT_EQ(all[0].groups, 2);
  EXPECT_EQ(all[0].unplaced, 1);
  EXPECT_EQ(all[0].first_unplaced, "c/storage-2");
  EXPECT_EQ(all[0].why, "1 by host_allowed, 2 by storage_room");
  EXPECT_EQ(all[1].unplaced, 0);
  EXPECT_EQ(all[2].groups, 0);
  EXPECT_FALSE(survive(planner, "rack", "").has_value());
}

// 5 + 3 + 1 + 1 in two domains: 5 | 3 + 1 + 1 holds ten.
TEST(CapacityForecast, FreeHostsGoToTheDomainsWhereMostFits) {
  Fleet fleet;
  fleet.hosts = {host("h1", 100), host("h2", 100), host("h3", 300), host("h4", 500)};
  fleet.clusters = {cluster({set(2)}, 2, true)};
  const Inventory inventory = build(fleet);
  Planner planner(inventory);
  EXPECT_EQ(capacity(planner, {"c", "storage"})->more, 10);
  EXPECT_EQ(capacity(planner, {"c", "storage"})->more, 10);  // nothing of the forecast stays
}

// They say how many there are to be, not how many there could be.
TEST(CapacityForecast, ExactCountsDoNotLimitIt) {
  Fleet fleet;
  fleet.hosts = {host_in("h1", "az", "a", 300), host_in("h2", "az", "b", 200)};
  fleet.clusters = {cluster({set(2)})};
  fleet.clusters[0].classes[0].sets[0].exact = CountPerLabel{"az", {{"a", 1}, {"b", 1}}};
  fleet.groups = {group("storage-1", "h1"), group("storage-2", "h2")};
  const Inventory inventory = build(fleet);
  Planner planner(inventory);
  const Capacity result = *capacity(planner, {"c", "storage", "default", "az"});
  EXPECT_EQ(result.more, 3);
  EXPECT_EQ(result.per_value, (std::map<std::string, int>{{"a", 2}, {"b", 1}}));
}

// The small disk must not take the only unit of the large one.
TEST(CapacityForecast, DisksOfAGroupShareTheUnitsOfAHost) {
  const UnitKind a{"file", "a", {}};
  const UnitKind b{"file", "b", {}};
  Fleet fleet;
  fleet.hosts = {host("h1", 0)};
  fleet.hosts[0].units = {{a, 120, 120}, {b, 60, 60}};
  Shape two = shape(0);
  two.disks = {{{"file", "", {}}, 50}, {{"file", "", {}}, 100}};
  fleet.clusters = {cluster({set(1, two)})};
  const Inventory inventory = build(fleet);
  Planner planner(inventory);
  EXPECT_EQ(capacity(planner, {"c", "storage"})->more, 1);
  const FleetPlan plan = testing::plan_of(inventory);
  ASSERT_EQ(plan.placed.size(), 1u);
  EXPECT_EQ(plan.placed[0].group.disks[0].unit, b);
  EXPECT_EQ(plan.placed[0].group.disks[1].unit, a);
}

// One group after the other, in order of ID, would leave the picky one without a host.
TEST(Survival, ALossThatCanBePlacedAgainIsNotReported) {
  Fleet fleet;
  fleet.hosts = {host_in("h1", "az", "a", 200), host_in("h2", "az", "a", 100), host("h3", 100)};
  SetDemand picky = set(1, shape(), "picky");
  picky.hosts["az"] = "a";
  fleet.clusters = {cluster({set(1), picky})};
  fleet.groups = {group("storage-1", "h1"), group("storage-2", "h1", "", 1)};
  fleet.groups[1].set = "picky";
  const Inventory inventory = build(fleet);
  Planner planner(inventory);
  const Loss loss = survive(planner, "host", "h1")->front();
  EXPECT_EQ(loss.groups, 2);
  EXPECT_EQ(loss.unplaced, 0);
}

// Two sets that are as picky as each other: only a search finds the places.
TEST(Survival, OtherChoicesAreSearched) {
  Fleet fleet;
  fleet.hosts = {host_in("h1", "az", "a", 200), host_in("h2", "az", "a", 100),
                 host_in("h3", "az", "a", 100)};
  for (const std::size_t h : {0u, 1u, 2u})
    fleet.hosts[h].labels["x"] = h == 2 ? "no" : "yes";
  fleet.hosts[1].cpu_milli = 4000;  // h2 is the emptier one for the first group
  SetDemand first = set(1, shape(), "first");
  first.hosts["az"] = "a";
  SetDemand second = set(1, shape(), "second");
  second.hosts["x"] = "yes";
  fleet.hosts.push_back(host_in("h4", "x", "yes", 50));
  fleet.clusters = {cluster({first, second})};
  fleet.groups = {group("storage-1", "h1"), group("storage-2", "h1", "", 1)};
  fleet.groups[0].set = "first";
  fleet.groups[1].set = "second";
  fleet.hosts[2].cpu_milli = 2000;
  const Inventory inventory = build(fleet);
  Planner planner(inventory);
  EXPECT_EQ(survive(planner, "host", "h1")->front().unplaced, 0);
}

// Nobody can take any of it: that is the worst loss, not none.
TEST(Survival, TheLossOfEverythingIsReported) {
  Fleet fleet;
  fleet.hosts = {host_in("h1", "rack", "r1"), host_in("h2", "rack", "r1")};
  fleet.clusters = {cluster({set(2)})};
  fleet.groups = {group("storage-1", "h1"), group("storage-2", "h2")};
  const Inventory inventory = build(fleet);
  Planner planner(inventory);
  const Loss loss = survive(planner, "rack", "r1")->front();
  EXPECT_EQ(loss.unplaced, 2);
  EXPECT_EQ(loss.first_unplaced, "c/storage-1");
  EXPECT_EQ(loss.why, "2 by host_allowed");
}

// What is lost comes back like any missing group: in the domain that has room for it.
TEST(Survival, AReplacementMayGoToAnotherDomainThatHasLess) {
  Fleet fleet;
  fleet.hosts = {host("h1", 100), host("h2", 200)};
  fleet.clusters = {cluster({set(2)}, 2, true)};
  fleet.groups = {group("storage-1", "h1", "storage-0")};
  const Inventory inventory = build(fleet);
  Planner planner(inventory);
  const Loss loss = survive(planner, "host", "h1")->front();
  EXPECT_EQ(loss.unplaced, 0);
  EXPECT_EQ(survive(planner, "host", "h2")->front().groups, 0);
}

}  // namespace
}  // namespace fdbpack::place
