// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/place/inventory.hpp"

#include "builders.hpp"
#include "fdbpack/place/order.hpp"

#include <gmock/gmock.h>

#include <functional>

namespace fdbpack::place {
namespace {

using testing::build;
using testing::cluster;
using ::testing::ElementsAre;
using testing::group;
using ::testing::HasSubstr;
using testing::host;
using testing::kNvme;
using testing::set;

Fleet sample() {
  Fleet fleet;
  fleet.hosts = {host("h1"), host("h2")};
  fleet.clusters = {cluster({set(2)})};
  fleet.groups = {group("storage-1", "h1")};
  return fleet;
}

TEST(Order, NumbersCompareAsNumbers) {
  EXPECT_LT(compare_ids("db-9", "db-10"), 0);
  EXPECT_LT(compare_ids("db-9", "db-9a"), 0);
  EXPECT_GT(compare_ids("b", "a10"), 0);
  EXPECT_EQ(compare_ids("db-10", "db-10"), 0);
  EXPECT_NE(compare_ids("db-01", "db-1"), 0);
  EXPECT_LT(compare_ids("9999999999999999999998", "9999999999999999999999"), 0);
}

struct BadInput {
  const char* name;
  std::function<void(Fleet&)> spoil;
  const char* message;
};

TEST(Inventory, RefusesBadInputAndNamesIt) {
  const std::vector<BadInput> cases = {
      {"negative cpu", [](Fleet& f) { f.hosts[0].cpu_milli = -1; }, "host h1: cpu is negative"},
      {"negative memory", [](Fleet& f) { f.hosts[1].memory_mib = -5; },
       "host h2: memory is negative"},
      {"negative disk", [](Fleet& f) { f.hosts[0].units[0].free_mib = -1; },
       "file:nvme has a negative capacity"},
      {"more free than total", [](Fleet& f) { f.hosts[0].units[0].free_mib = 2000; },
       "2000 MiB free of only 1000"},
      {"host twice", [](Fleet& f) { f.hosts[1].id = "h1"; }, "host h1 is listed twice"},
      {"unit twice", [](Fleet& f) { f.hosts[0].units.push_back(f.hosts[0].units[0]); },
       "host h1: storage unit file:nvme is listed twice"},
      {"group twice", [](Fleet& f) { f.groups.push_back(f.groups[0]); },
       "process group c/storage-1 is listed twice"},
      {"unknown host", [](Fleet& f) { f.groups[0].host = "h9"; }, "there is no host 'h9'"},
      {"unknown cluster", [](Fleet& f) { f.groups[0].cluster = "d"; }, "there is no cluster d"},
      {"negative count", [](Fleet& f) { f.clusters[0].classes[0].sets[0].count = -1; },
       "count -1 is negative"},
      {"set twice", [](Fleet& f) { f.clusters[0].classes[0].sets.push_back(set(1)); },
       "storage set default is listed twice"},
      {"no servers", [](Fleet& f) { f.clusters[0].classes[0].sets[0].shape.servers = 0; },
       "0 servers per disk"},
      {"empty disk", [](Fleet& f) { f.clusters[0].classes[0].sets[0].shape.disks[0].size_mib = 0; },
       "must be larger than 0"},
      {"mode", [](Fleet& f) { f.clusters[0].redundancy_mode = "quadruple"; },
       "'quadruple' is not known"},
      {"exact counts",
       [](Fleet& f) {
         f.clusters[0].classes[0].sets[0].exact = CountPerLabel{"az", {{"a", 5}}};
       },
       "add up to 5, the set has 2"},
      {"port slots", [](Fleet& f) { f.hosts[0].port_slots = 40000; }, "40000 port slots"},
      {"port slot", [](Fleet& f) { f.groups[0].port_slot = -1; }, "port slot -1 is out of range"},
  };
  for (const BadInput& bad : cases) {
    Fleet fleet = sample();
    bad.spoil(fleet);
    const Result<Inventory> result = Inventory::build(std::move(fleet));
    ASSERT_FALSE(result.has_value()) << bad.name;
    EXPECT_EQ(result.error().code, ErrorCode::invalid_argument) << bad.name;
    EXPECT_THAT(result.error().message, HasSubstr(bad.message)) << bad.name;
  }
}

TEST(Inventory, SpecThatCannotBeSatisfiedIsRefusedBeforeAnythingIsDecided) {
  const std::vector<BadInput> cases = {
      {"labels", [](Fleet& f) { f.clusters[0].classes[0].sets[0].hosts["az"] = "az-9"; },
       "no host has its labels; label or add a host"},
      {"redundancy", [](Fleet& f) { f.clusters[0].redundancy_mode = "triple"; },
       "redundancy mode triple needs 3"},
      {"physical domains",
       [](Fleet& f) {
         f.clusters[0].redundancy_mode = "triple";
         f.clusters[0].classes[0].sets[0].count = 5;
       },
       "needs 3 physical domains (host), the fleet has 2 for its sets; add 1 more"},
      {"logical domains",
       [](Fleet& f) {
         f.clusters[0] = cluster({set(6)}, 1);
         f.clusters[0].redundancy_mode = "double";
       },
       "has 1 fault domains, redundancy mode double needs 2"},
      {"required separation", [](Fleet& f) { f.clusters[0] = cluster({set(6)}, 3, true); },
       "or make the separation a preference"},
  };
  for (const BadInput& bad : cases) {
    Fleet fleet = sample();
    bad.spoil(fleet);
    const Inventory inventory = build(std::move(fleet));
    Planner planner(inventory);
    const Result<FleetPlan> result = plan(planner, {});
    ASSERT_FALSE(result.has_value()) << bad.name;
    EXPECT_EQ(result.error().code, ErrorCode::precondition) << bad.name;
    EXPECT_THAT(result.error().message, HasSubstr(bad.message)) << bad.name;
  }
}

TEST(Inventory, CapacityThatShrankIsReportedNotRefused) {
  Fleet fleet = sample();
  fleet.hosts[0].units[0] = {kNvme, 80, 80};
  fleet.hosts[0].cpu_milli = 500;
  fleet.groups.push_back(group("storage-2", "h2", "", 0));
  fleet.groups.push_back(group("storage-3", "h2", "", 0));
  fleet.hosts[1].units.clear();
  const std::vector<Violation> found = violations(build(std::move(fleet)));
  const std::vector<Violation> expected = {
      {"cpu", "h1", "its groups take 1000 millicores of 500"},
      {"storage_room", "h1", "file:nvme is short of 20 MiB for the disks promised on it"},
      {"port_slot", "h2", "port slot 0 is taken twice"},
      {"storage_unit", "c/storage-2", "host h2 has no storage unit file:nvme any more"},
      {"storage_unit", "c/storage-3", "host h2 has no storage unit file:nvme any more"},
  };
  EXPECT_EQ(found, expected);
}

TEST(Inventory, PortSlotsThatShrankAreReportedAndNotGivenOut) {
  Fleet fleet = sample();
  fleet.groups = {testing::group("storage-1", "h1", "", 6)};
  fleet.hosts[0].port_slots = 2;
  const Inventory inventory = build(std::move(fleet));
  const std::vector<Violation> expected = {
      {"port_slot", "h1", "port slot 6 is in use and the host has 2"}};
  EXPECT_EQ(violations(inventory), expected);
  const PlacementState state(inventory);
  EXPECT_EQ(state.free_slot(0, 2), 0);
  EXPECT_EQ(state.free_slot(0, 3), kNone);
}

TEST(Plan, SaysWhenCopiesShareAPhysicalDomain) {
  Fleet fleet = sample();
  fleet.clusters[0].redundancy_mode = "double";
  EXPECT_TRUE(testing::plan_of(build(fleet)).unmet.empty());
  // Both are there already, on one host: nothing is missing, and still it is told.
  fleet.groups.push_back(group("storage-2", "h1", "", 1));
  const FleetPlan plan = testing::plan_of(build(fleet));
  EXPECT_TRUE(plan.placed.empty());
  ASSERT_EQ(plan.unmet.size(), 1u);
  EXPECT_EQ(plan.unmet[0].rule, "redundancy");
  EXPECT_EQ(plan.unmet[0].subject, "c/storage");
  // A class without data of its own has no copies.
  fleet.clusters[0].classes.push_back({"stateless", {set(1, testing::shape(0))}});
  fleet.groups[1].host = "h2";
  EXPECT_TRUE(testing::plan_of(build(fleet)).unmet.empty());
}

// Three groups in two of three domains, and no host that could take the third one.
TEST(Plan, SaysWhenAFaultDomainStaysBelowItsMinimum) {
  Fleet fleet;
  fleet.hosts = {host("h1"), host("h2")};
  fleet.clusters = {cluster({set(4)}, 2, true)};
  fleet.groups = {group("storage-1", "h1", "storage-0"), group("storage-2", "h1", "storage-0", 1),
                  group("storage-3", "h1", "storage-0", 2), group("storage-4", "h2", "storage-1")};
  const auto rules = [](const std::vector<Violation>& list) {
    std::vector<std::string> out;
    for (const Violation& one : list)
      out.push_back(one.rule + " " + one.subject + " " + one.message);
    return out;
  };
  EXPECT_THAT(rules(violations(build(fleet))),
              ElementsAre("fault_domain_balance c/storage-0 has 3 groups, at most 2",
                          "fault_domain_balance c/storage-1 has 1 groups, at least 2"));
  EXPECT_TRUE(testing::plan_of(build(fleet)).unmet.empty());  // the plan mends it
  fleet.groups.pop_back();
  EXPECT_THAT(rules(violations(build(fleet))),  // one is still to come
              ElementsAre("fault_domain_balance c/storage-0 has 3 groups, at most 2"));
  // h2 is full: nothing can be done about storage-1, and that is said once.
  fleet.clusters = {cluster({set(2)}, 2, true)};
  fleet.groups.pop_back();
  fleet.hosts[1].cpu_milli = 0;
  const FleetPlan stuck = testing::plan_of(build(fleet));
  EXPECT_THAT(rules(stuck.unmet),
              ElementsAre("fault_domain_balance c/storage-0 has 2 groups, at most 1",
                          "fault_domain_balance c/storage-1 has 0 groups, at least 1"));
  EXPECT_TRUE(stuck.violations.empty());
}

TEST(Inventory, WhatAGroupWroteIsNotCountedTwice) {
  Fleet fleet = sample();
  fleet.hosts[0].units[0].free_mib = 960;  // of 1000; the group wrote 40 of the 100 it was promised
  fleet.groups[0].disks[0].used_mib = 40;
  const Inventory inventory = build(std::move(fleet));
  EXPECT_EQ(PlacementState(inventory).units()[0].room_mib, 900);
}

TEST(Inventory, NamesAGroupOfAnUnknownClassOrSet) {
  Fleet fleet;
  fleet.hosts = {testing::host("h1")};
  fleet.clusters = {testing::cluster({testing::set(1)})};
  fleet.groups = {testing::group("storage-1", "h1")};
  fleet.groups[0].set = "gone";
  const Inventory inventory = testing::build(fleet);
  const std::vector<Violation> found = violations(inventory);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rule, "known_set");
  EXPECT_EQ(found[0].subject, "c/storage-1");
  EXPECT_EQ(found[0].message, "the spec of c has no storage set gone; place removes the group");
  fleet.groups[0].process_class = "storrage";
  const Result<Inventory> refused = Inventory::build(fleet);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message,
            "process group c/storage-1: 'storrage' is not a process class of FoundationDB; correct "
            "it or drop the group");
}

}  // namespace
}  // namespace fdbpack::place
