// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/place/planner.hpp"

#include "builders.hpp"
#include "fdbpack/place/explain.hpp"

#include <gmock/gmock.h>

#include <map>
#include <set>

namespace fdbpack::place {
namespace {

using testing::build;
using testing::cluster;
using ::testing::ElementsAre;
using testing::group;
using ::testing::HasSubstr;
using testing::host;
using testing::host_in;
using testing::kNvme;
using testing::plan_of;
using testing::set;
using testing::shape;

Want want(Index set_index = 0) {
  Want out;
  out.set = set_index;
  out.id = "storage-99";
  return out;
}

std::map<std::string, std::string> refusals(Planner& planner, const Want& what) {
  std::map<std::string, std::string> out;
  const Explanation why = planner.explain(what);
  for (const RefusedHost& refused : why.refused) {
    const Host& where = planner.state().inventory().hosts()[static_cast<std::size_t>(refused.host)];
    out[where.id] = std::string(to_string(refused.refusal.constraint)) + ": " +
                    reason(planner.state(), what, why.domain, refused.host, refused.refusal);
  }
  return out;
}

// The storage design's complaint: 10 GiB and 10 GiB are not 20 GiB.
TEST(Planner, DiskMustFitOneUnitNeverTheSum) {
  Fleet fleet;
  fleet.hosts = {host("h1", 0), host("h2", 20480)};
  fleet.hosts[0].units = {{{"file", "a", {}}, 10240, 10240}, {{"file", "b", {}}, 10240, 10240}};
  Shape what = shape(0);
  what.disks.push_back({{"file", "", {}}, 15360});
  fleet.clusters = {cluster({set(1, what)})};
  const Inventory inventory = build(std::move(fleet));
  Planner planner(inventory);
  EXPECT_THAT(
      refusals(planner, want()),
      ElementsAre(std::pair("h1",
                            "storage_room: disk of 15360 MiB does not fit: file:a has room for "
                            "10240 MiB")));
  EXPECT_EQ(planner.decide(want())->host, 1);
}

// The four-unit node of the storage design.
TEST(Planner, FourUnitNodeTakesWhatEachUnitCanHold) {
  Host node = host("n");
  node.units = {{{"drbd8", "xenvg", {}}, 4000, 2000},
                {{"file", "/path/to/storage1", {}}, 10000, 5000},
                {{"file", "/path/to/storage2", {}}, 20000, 1000},
                {{"lvm-vg", "xenssdvg", {"false"}}, 1024, 1024}};
  const auto fits = [&](UnitKind kind, std::int64_t size) {
    Fleet fleet;
    fleet.hosts = {node};
    Shape what = shape(0);
    what.disks.push_back({std::move(kind), size});
    fleet.clusters = {cluster({set(1, what)})};
    const Inventory inventory = build(std::move(fleet));
    return Planner(inventory).decide(want()).has_value();
  };
  EXPECT_TRUE(fits({"drbd8", "xenvg", {}}, 2000));
  EXPECT_FALSE(fits({"drbd8", "xenvg", {}}, 2001));
  EXPECT_TRUE(fits({"file", "/path/to/storage1", {}}, 5000));
  EXPECT_FALSE(fits({"file", "/path/to/storage2", {}}, 5000));
  EXPECT_FALSE(fits({"file", "", {}}, 6000));  // 5000 + 1000 are not 6000
  EXPECT_TRUE(fits({"lvm-vg", "xenssdvg", {"false"}}, 1024));
  EXPECT_FALSE(fits({"lvm-vg", "xenssdvg", {}}, 1024));
}

TEST(Planner, SeveralDisksOfAGroupAreFittedOneByOne) {
  Fleet fleet;
  fleet.hosts = {host("h1", 150)};
  Shape what = shape(100);
  what.disks.push_back({kNvme, 100});
  fleet.clusters = {cluster({set(1, what)})};
  const Inventory inventory = build(std::move(fleet));
  Planner planner(inventory);
  EXPECT_THAT(refusals(planner, want()),
              ElementsAre(::testing::Pair("h1", HasSubstr("has room for 50 MiB"))));
}

TEST(Planner, EachRuleRefusesWithItsNumbers) {
  Fleet fleet;
  for (const char* id : {"h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8", "h9", "h10"}) {
    fleet.hosts.push_back(host_in(id, "az", "a"));
  }
  fleet.hosts[0].is_unreachable = true;
  fleet.hosts[1].is_draining = true;
  fleet.hosts[2].labels["az"] = "b";
  fleet.hosts[3].units[0].kind.key = "hdd";
  fleet.hosts[4].units[0].free_mib = 99;
  fleet.hosts[5].cpu_milli = 500;
  fleet.hosts[6].memory_mib = 10;
  fleet.hosts[7].port_slots = 0;
  fleet.hosts[8].labels.clear();
  fleet.clusters = {cluster({set(3)}, 2, true)};
  fleet.clusters[0].classes[0].sets[0].hosts["az"] = "a";
  fleet.groups = {group("storage-1", "h10", "storage-0")};
  const Inventory inventory = build(std::move(fleet));
  Planner planner(inventory);
  Want in_other_domain = want();
  in_other_domain.domain = 1;
  EXPECT_THAT(
      refusals(planner, in_other_domain),
      ElementsAre(
          std::pair("h1", "host_reachable: is unreachable"),
          std::pair("h10",
                    "fault_domain_separation: carries storage-0, must not carry storage-1 too"),
          std::pair("h2", "host_not_draining: is draining"),
          std::pair("h3", "set_hosts: has az=b, set default wants az=a"),
          std::pair("h4", "storage_unit: has no storage unit file:nvme, only file:hdd"),
          std::pair("h5",
                    "storage_room: disk of 100 MiB does not fit: file:nvme has room for 99 MiB"),
          std::pair("h6", "cpu: needs 1 cores, 0.500 are left"),
          std::pair("h7", "memory: needs 1000 MiB of memory, 10 MiB are left"),
          std::pair("h8", "port_slot: has no 1 free port slots in a row below 0"),
          std::pair("h9", "set_hosts: has no label az, set default wants az=a")));
}

TEST(Planner, ReservationsTakeRoomLikeRunningGroups) {
  Fleet fleet;
  fleet.hosts = {host("h1", 150)};
  fleet.clusters = {cluster({set(2)})};
  fleet.groups = {group("storage-1", "h1")};
  fleet.groups[0].is_reserved = true;
  const Inventory inventory = build(std::move(fleet));
  EXPECT_FALSE(Planner(inventory).decide(want()).has_value());
}

TEST(Planner, PortSlotIsTheLowestGapForAllServers) {
  Fleet fleet;
  fleet.hosts = {host("h1")};
  Shape what = shape(10);
  what.servers = 2;
  fleet.clusters = {cluster({set(9, what)})};
  fleet.groups = {group("storage-1", "h1", "", 0, 10), group("storage-2", "h1", "", 2, 10),
                  group("storage-3", "h1", "", 5, 10)};
  const Inventory inventory = build(std::move(fleet));
  Planner planner(inventory);
  EXPECT_EQ(planner.decide(want())->slot, 3);
}

TEST(Planner, SameDomainStaysTogetherAndOthersKeepAway) {
  Fleet fleet;
  fleet.hosts = {host("h1"), host("h2"), host("h3")};
  fleet.clusters = {cluster({set(6)}, 2)};
  fleet.groups = {group("storage-1", "h2", "storage-0"), group("storage-2", "h3", "storage-1")};
  const Inventory inventory = build(std::move(fleet));
  std::map<std::string, std::set<std::string>> zones;
  for (const NewGroup& placed : plan_of(inventory).placed) {
    zones[placed.group.host].insert(placed.group.fault_domain);
  }
  EXPECT_EQ(zones, (std::map<std::string, std::set<std::string>>{{"h2", {"storage-0"}},
                                                                 {"h3", {"storage-1"}}}));
}

TEST(Planner, BrokenPreferenceIsReported) {
  Fleet fleet;
  fleet.hosts = {host("h1")};
  fleet.clusters = {cluster({set(2)}, 2, false)};
  const Inventory inventory = build(std::move(fleet));
  const FleetPlan result = plan_of(inventory);
  ASSERT_EQ(result.placed.size(), 2u);
  EXPECT_TRUE(result.placed[0].breached.empty());
  EXPECT_THAT(result.placed[1].breached, ElementsAre(Constraint::fault_domain_separation));
  EXPECT_EQ(result.after.violations, 1);
  EXPECT_THAT(headline(result.placed[1]), HasSubstr("fault_domain_separation does not hold"));
}

TEST(Planner, PhysicalDomainCanBeARack) {
  Fleet fleet;
  fleet.hosts = {host_in("h1", "rack", "r1"), host_in("h2", "rack", "r1"),
                 host_in("h3", "rack", "r2")};
  fleet.clusters = {cluster({set(2)}, 2, true)};
  fleet.clusters[0].distribution.physical_domain = "rack";
  const Inventory inventory = build(std::move(fleet));
  const FleetPlan result = plan_of(inventory);
  ASSERT_EQ(result.placed.size(), 2u);
  EXPECT_EQ(result.placed[0].group.host, "h1");
  EXPECT_EQ(result.placed[1].group.host, "h3");
  Planner planner(inventory);
  Want second = want();
  second.domain = 1;
  Decision first = *planner.decide(want());
  planner.accept(first);
  EXPECT_THAT(refusals(planner, second)["h2"],
              HasSubstr("rack r1 carries storage-0, must not carry storage-1 too"));
}

// Without logical domains the zone is the physical domain: groups spread over as many as there are.
TEST(Planner, WithoutDomainsGroupsSpreadOverHosts) {
  Fleet fleet;
  fleet.hosts = {host("h1", 9000), host("h2"), host("h3")};
  fleet.clusters = {cluster({set(4)})};
  const Inventory inventory = build(std::move(fleet));
  std::map<std::string, int> counts;
  for (const NewGroup& placed : plan_of(inventory).placed) {
    ++counts[placed.group.host];
    EXPECT_EQ(placed.group.fault_domain, "");
  }
  EXPECT_EQ(counts, (std::map<std::string, int>{{"h1", 2}, {"h2", 1}, {"h3", 1}}));
}

// "3 in AZ-1 and 2 in AZ-2", as two sets and as exact counts of one set.
TEST(Planner, ThreeInOneZoneAndTwoInTheOther) {
  Fleet fleet;
  for (int i = 1; i <= 6; ++i) {
    fleet.hosts.push_back(host_in("h" + std::to_string(i), "az", i <= 3 ? "az-1" : "az-2"));
  }
  SetDemand first = set(3);
  first.hosts["az"] = "az-1";
  SetDemand second = set(2, shape(), "az-2");
  second.hosts["az"] = "az-2";
  SetDemand both = set(5);
  both.exact = CountPerLabel{"az", {{"az-1", 3}, {"az-2", 2}}};
  for (const std::vector<SetDemand>& sets : {std::vector{first, second}, std::vector{both}}) {
    fleet.clusters = {cluster(sets)};
    const Inventory inventory = build(fleet);
    std::map<std::string, int> counts;
    for (const NewGroup& placed : plan_of(inventory).placed)
      ++counts[placed.group.host < "h4" ? "az-1" : "az-2"];
    EXPECT_EQ(counts, (std::map<std::string, int>{{"az-1", 3}, {"az-2", 2}}));
  }
}

TEST(Planner, SurplusOfAnExactCountIsReplacedInTheOtherZone) {
  Fleet fleet;
  fleet.hosts = {host_in("h1", "az", "az-1"), host_in("h2", "az", "az-1"),
                 host_in("h3", "az", "az-2")};
  SetDemand both = set(2);
  both.exact = CountPerLabel{"az", {{"az-1", 1}, {"az-2", 1}}};
  fleet.clusters = {cluster({both})};
  fleet.groups = {group("storage-1", "h1"), group("storage-2", "h2")};
  const Inventory inventory = build(std::move(fleet));
  const FleetPlan result = plan_of(inventory);
  ASSERT_EQ(result.placed.size(), 1u);
  EXPECT_EQ(result.placed[0].replaces, "storage-2");
  EXPECT_EQ(result.placed[0].group.host, "h3");
}

// The density conversion: the three old groups stay until they are removed, three new ones of
// density 2 join.
TEST(Planner, DensityConversionPlacesThreeNewGroups) {
  Fleet fleet;
  fleet.hosts = {host("h1"), host("h2"), host("h3")};
  Shape dense = shape(200);
  dense.servers = 2;
  fleet.clusters = {cluster({set(3, dense)}, 3)};
  for (int i = 1; i <= 3; ++i) {
    const std::string n = std::to_string(i);
    fleet.groups.push_back(group("storage-" + n, "h" + n, "storage-" + std::to_string(i - 1)));
    fleet.groups.back().is_removing = true;
  }
  const Inventory inventory = build(std::move(fleet));
  const FleetPlan result = plan_of(inventory);
  ASSERT_EQ(result.placed.size(), 3u);
  for (int i = 0; i < 3; ++i) {
    const Group& placed = result.placed[static_cast<std::size_t>(i)].group;
    EXPECT_EQ(placed.id, "storage-" + std::to_string(i + 4));
    EXPECT_EQ(placed.fault_domain, "storage-" + std::to_string(i));
    EXPECT_EQ(placed.host, "h" + std::to_string(i + 1));  // where its domain is already
    EXPECT_EQ(placed.port_slot, 1);
    EXPECT_EQ(placed.servers, 2);
  }
}

TEST(Planner, ReplacementStaysInItsSet) {
  Fleet fleet;
  fleet.hosts = {host_in("h1", "az", "a"), host_in("h2", "az", "b"), host_in("h3", "az", "b")};
  SetDemand extra = set(2, shape(), "b");
  extra.hosts["az"] = "b";
  fleet.clusters = {cluster({set(1), extra}, 3, true)};
  fleet.groups = {group("storage-1", "h1", "storage-0"), group("storage-2", "h2", "storage-1"),
                  group("storage-3", "h3", "storage-3")};
  fleet.groups[1].set = fleet.groups[2].set = "b";
  const Inventory inventory = build(std::move(fleet));
  const FleetPlan result = plan_of(inventory);
  // h3 still carries storage-3 until the old group is gone: required separation waits rather than
  // mixes, and the old group stays.
  EXPECT_TRUE(result.replaced.empty());
  ASSERT_EQ(result.unplaced.size(), 1u);
  EXPECT_EQ(result.unplaced[0].set, "b");
  EXPECT_EQ(result.unplaced[0].replaces, "storage-3");
  EXPECT_EQ(result.unplaced[0].cause, "storage-3 is not one of 3 fault domains");
}

// A set shrinks to nothing and leaves just the room that another needs: one plan, two steps.
TEST(Planner, RoomOfAGroupThatLeavesIsUsedInALaterStep) {
  Fleet fleet;
  fleet.hosts = {host("h1", 200)};
  fleet.clusters = {cluster({set(0), set(1, shape(200), "big")})};
  fleet.groups = {group("storage-1", "h1")};
  const Inventory inventory = build(std::move(fleet));
  const FleetPlan result = plan_of(inventory);
  ASSERT_EQ(result.removed.size(), 1u);
  EXPECT_EQ(result.removed[0].id, "storage-1");
  ASSERT_EQ(result.placed.size(), 1u);
  EXPECT_EQ(result.placed[0].step, 2);
  EXPECT_EQ(result.placed[0].group.set, "big");
  EXPECT_TRUE(result.unplaced.empty());
}

TEST(Planner, RelaxedRuleIsShown) {
  Fleet fleet;
  fleet.hosts = {host("h1")};
  fleet.hosts[0].is_draining = true;
  fleet.clusters = {cluster({set(1)})};
  const Inventory inventory = build(std::move(fleet));
  EXPECT_EQ(plan_of(inventory).unplaced.size(), 1u);
  PlanOptions options;
  options.relaxed.insert(Constraint::host_not_draining);
  const FleetPlan result = plan_of(inventory, options);
  ASSERT_EQ(result.placed.size(), 1u);
  EXPECT_THAT(result.placed[0].breached, ElementsAre(Constraint::host_not_draining));
}

// h1 is the only host of set "only1"; taken one by one in the order of sets, "default" would take
// it.
TEST(Planner, PickyGroupsAreNotPaintedIntoACorner) {
  Fleet fleet;
  fleet.hosts = {host_in("h1", "disk", "fast", 100), host("h2", 90), host("h3", 100)};
  SetDemand picky = set(1, shape(90), "only1");
  picky.hosts["disk"] = "fast";
  fleet.clusters = {cluster({set(2, shape(90)), picky})};
  const Inventory inventory = build(std::move(fleet));
  const FleetPlan result = plan_of(inventory);
  EXPECT_EQ(result.placed.size(), 3u);
  EXPECT_TRUE(result.unplaced.empty());
}

// Without a seed by ID; with one by the seed, the same each time, and explained as such.
TEST(Planner, ASeedDecidesBetweenEqualHosts) {
  Fleet fleet;
  for (int i = 0; i < 20; ++i)
    fleet.hosts.push_back(host("h" + std::to_string(i)));
  fleet.clusters = {cluster({set(1)})};
  const Inventory inventory = build(std::move(fleet));
  std::set<Index> chosen;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Planner planner(inventory, seed);
    const Explanation why = planner.explain(want());
    EXPECT_EQ(why.deciding_term, "seed");
    EXPECT_EQ(why.candidates.front().host, why.winner);
    EXPECT_EQ(Planner(inventory, seed).decide(want())->host, why.winner);
    chosen.insert(why.winner);
  }
  EXPECT_GT(chosen.size(), 3u);
  Planner planner(inventory);
  EXPECT_EQ(planner.decide(want())->host, 0);
  EXPECT_EQ(planner.explain(want()).deciding_term, "id");
}

TEST(Planner, ExplanationIsStableProse) {
  Fleet fleet;
  fleet.hosts = {host("db-1", 50), host("db-2"), host("db-3", 2000)};
  fleet.clusters = {cluster({set(2)}, 2)};
  fleet.groups = {group("storage-1", "db-2", "storage-0")};
  const Inventory inventory = build(std::move(fleet));
  Planner planner(inventory);
  const Explanation why = planner.explain(want());
  EXPECT_THAT(
      explain_text(planner.state(), why),
      ElementsAre(
          "fault domains: storage-0 has 1, storage-1 has 0; each gets 1 to 1; chosen storage-1",
          "db-3 wins by violations: 0 violations, spread 1, utilisation 0.078125, storage "
          "-0.016668",
          "runner-up db-2: 1 violations, spread 1, utilisation 0.156250, storage +0.199998; does "
          "not hold: "
          "fault_domain_separation",
          "refused: 1 of 3 hosts (1 by storage_room)",
          "  db-1: storage_room: disk of 100 MiB does not fit: file:nvme has room for 50 MiB"));
  // Counted only, and not announced as a list of none.
  EXPECT_EQ(explain_text(planner.state(), why, 0).back(),
            "refused: 1 of 3 hosts (1 by storage_room)");
}

}  // namespace
}  // namespace fdbpack::place
