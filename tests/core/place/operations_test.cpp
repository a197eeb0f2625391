// SPDX-License-Identifier: Apache-2.0
//
// What is done with a fleet besides placing new groups: evacuation, forecast, waves, rebalancing.
#include "builders.hpp"
#include "fdbpack/place/evacuate.hpp"
#include "fdbpack/place/generate.hpp"
#include "fdbpack/place/rebalance.hpp"
#include "fdbpack/place/waves.hpp"

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
using testing::set;

Fleet three_hosts() {
  Fleet fleet;
  fleet.hosts = {host("h1"), host("h2"), host("h3")};
  fleet.clusters = {cluster({set(3)})};
  fleet.groups = {group("storage-1", "h1"), group("storage-2", "h1", "", 1),
                  group("storage-3", "h2")};
  return fleet;
}

TEST(Evacuate, EmptiesAHostAndKeepsEverythingElse) {
  const Inventory inventory = build(three_hosts());
  Planner planner(inventory);
  EvacuateRequest request;
  request.hosts = {"h1"};
  const Result<Evacuation> result = evacuate(planner, request);
  ASSERT_TRUE(result.has_value()) << result.error().message;
  ASSERT_EQ(result->placed.size(), 2u);
  EXPECT_TRUE(result->unplaced.empty());
  EXPECT_EQ(result->placed[0].replaces, "storage-1");
  EXPECT_EQ(result->placed[0].group.id, "storage-4");
  EXPECT_EQ(result->placed[0].group.host, "h3");
  EXPECT_EQ(result->placed[1].group.host, "h2");
}

TEST(Evacuate, KeepsTheLogicalDomainAndSaysWhatDoesNotFit) {
  Fleet fleet;
  fleet.hosts = {host_in("h1", "rack", "r1"), host_in("h2", "rack", "r1"),
                 host_in("h3", "rack", "r2")};
  fleet.clusters = {cluster({set(2)}, 2, true)};
  fleet.clusters[0].distribution.physical_domain = "rack";
  fleet.groups = {group("storage-1", "h1", "storage-0"), group("storage-2", "h3", "storage-1")};
  const Inventory inventory = build(fleet);
  EvacuateRequest request;
  request.hosts = {"h1"};
  Planner first(inventory);
  const Evacuation host_gone = *evacuate(first, request);
  ASSERT_EQ(host_gone.placed.size(), 1u);
  EXPECT_EQ(host_gone.placed[0].group.host, "h2");
  EXPECT_EQ(host_gone.placed[0].group.fault_domain, "storage-0");
  request.hosts.clear();
  request.label = "rack";
  request.value = "r1";
  Planner second(inventory);
  const Evacuation rack_gone = *evacuate(second, request);
  EXPECT_TRUE(rack_gone.placed.empty());
  ASSERT_EQ(rack_gone.unplaced.size(), 1u);
  EXPECT_EQ(rack_gone.unplaced[0].why.refused.size(), 3u);
}

TEST(Evacuate, SetsAndFaultDomainsLeaveTheirHosts) {
  const Inventory inventory = build(three_hosts());
  EvacuateRequest request;
  request.cluster = "c";
  request.process_class = "storage";
  request.set = "default";
  Planner planner(inventory);
  const Evacuation result = *evacuate(planner, request);
  EXPECT_THAT(result.hosts, ElementsAre("h1", "h2"));
  for (const NewGroup& placed : result.placed)
    EXPECT_EQ(placed.group.host, "h3");
  request.fault_domain = "storage-0";
  EXPECT_FALSE(evacuate(planner, request).has_value());
}

TEST(Evacuate, AHostIsAPhysicalDomainToo) {
  const Inventory inventory = build(three_hosts());
  EvacuateRequest request;
  request.label = "host";
  request.value = "h1";
  Planner planner(inventory);
  const Result<Evacuation> result = evacuate(planner, request);
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_THAT(result->hosts, ElementsAre("h1"));
  EXPECT_EQ(result->placed.size(), 2u);
  request.value = "";
  EXPECT_EQ(evacuate(planner, request).error().message, "the physical domain host has no name");
}

// The group that could go anywhere must not take the only host of the picky one.
TEST(Evacuate, ThePickiestGroupIsPlacedFirst) {
  Fleet fleet;
  fleet.hosts = {host_in("h1", "az", "a"), host_in("h2", "az", "a", 150), host("h3", 150)};
  SetDemand picky = set(1, testing::shape(), "picky");
  picky.hosts["az"] = "a";
  fleet.clusters = {cluster({set(1), picky})};
  fleet.groups = {group("storage-1", "h1"), group("storage-2", "h1", "", 1)};
  fleet.groups[1].set = "picky";
  const Inventory inventory = build(fleet);
  EvacuateRequest request;
  request.hosts = {"h1"};
  request.search_budget = 0;
  Planner planner(inventory);
  const Evacuation result = *evacuate(planner, request);
  EXPECT_EQ(result.placed.size(), 2u);
}

TEST(Evacuate, UnknownNamesAreRefused) {
  const Inventory inventory = build(three_hosts());
  Planner planner(inventory);
  EvacuateRequest request;
  request.hosts = {"h9"};
  EXPECT_THAT(evacuate(planner, request).error().message, HasSubstr("there is no host h9"));
}

// Nothing in a wave takes a fault domain of a cluster down that the wave's worst host does not take
// down anyway.
void expect_safe(const Inventory& inventory, const std::vector<Wave>& all) {
  std::set<std::string> seen;
  for (const Wave& wave : all) {
    std::map<std::string, std::set<std::string>> together;
    std::map<std::string, std::size_t> alone;
    for (const std::string& id : wave.hosts) {
      EXPECT_TRUE(seen.insert(id).second) << id;
      std::map<std::string, std::set<std::string>> here;
      for (const Group& one : inventory.groups()) {
        if (one.host != id) continue;
        here[one.cluster].insert(one.fault_domain.empty() ? one.host : one.fault_domain);
      }
      for (const auto& [name, zones] : here) {
        together[name].insert(zones.begin(), zones.end());
        alone[name] = std::max(alone[name], zones.size());
      }
    }
    for (const auto& [name, zones] : together)
      EXPECT_EQ(zones.size(), alone[name]);
  }
  EXPECT_EQ(seen.size(), inventory.hosts().size());
}

TEST(Waves, OneLogicalDomainIsOneWave) {
  Fleet fleet;
  for (int i = 0; i < 12; ++i) {
    const std::string n = std::to_string(i);
    fleet.hosts.push_back(host("h" + n));
    fleet.groups.push_back(group("storage-" + n, "h" + n, "storage-" + std::to_string(i % 3)));
  }
  fleet.clusters = {cluster({set(12)}, 3)};
  const Inventory inventory = build(fleet);
  const std::vector<Wave> all = waves(inventory, {});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_THAT(all[0].hosts, ElementsAre("h0", "h3", "h6", "h9"));
  EXPECT_THAT(all[0].zones, ElementsAre("c/storage-0"));
  expect_safe(inventory, all);
  EXPECT_EQ(waves(inventory, {2}).size(), 6u);
}

TEST(Waves, AreSafeAcrossClusters) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GenerateOptions options;
    options.hosts = 30;
    options.clusters = 3;
    options.domains = seed % 2 == 0 ? 3 : 0;
    options.groups_per_host = 2;
    options.seed = seed;
    const Inventory inventory = build(*generate_fleet(options));
    expect_safe(inventory, waves(inventory, {}));
  }
}

TEST(Rebalance, SpreadsOutAnUnevenFleetWithinItsBudget) {
  Fleet fleet;
  fleet.hosts = {host("h1"), host("h2"), host("h3")};
  fleet.clusters = {cluster({set(6)})};
  for (int i = 0; i < 6; ++i) {
    fleet.groups.push_back(group("storage-" + std::to_string(i + 1), "h1", "", i));
    fleet.groups.back().disks[0].used_mib = 50;
    fleet.hosts[0].units[0].free_mib -= 50;
  }
  const Inventory inventory = build(fleet);
  Planner planner(inventory);
  RebalanceOptions watched;
  std::size_t seen = 0;
  watched.on_step = [&](std::size_t moves, double) { seen = moves; };
  const Rebalance result = rebalance(planner, watched);
  EXPECT_EQ(seen, 4u);
  EXPECT_EQ(result.moves.size(), 4u);
  EXPECT_EQ(result.data_mib, 200);
  EXPECT_NEAR(result.after.score(), 0.0, 1e-9);
  Planner limited(inventory);
  RebalanceOptions two;
  two.moves_max = 2;
  EXPECT_EQ(rebalance(limited, two).moves.size(), 2u);
  Planner poor(inventory);
  RebalanceOptions bytes;
  bytes.data_mib_max = 120;
  const Rebalance cheap = rebalance(poor, bytes);
  EXPECT_EQ(cheap.moves.size(), 2u);
  EXPECT_TRUE(cheap.is_budget_spent);
}

TEST(Rebalance, LeavesAnUnhealthyDatabaseAlone) {
  Fleet fleet = three_hosts();
  fleet.clusters[0].is_healthy = false;
  const Inventory inventory = build(fleet);
  Planner planner(inventory);
  const Rebalance result = rebalance(planner, {});
  EXPECT_TRUE(result.moves.empty());
  EXPECT_THAT(result.unhealthy, ElementsAre("c"));
}

TEST(Rebalance, ResolvesSharedHostsFirst) {
  Fleet fleet;
  fleet.hosts = {host("h1"), host("h2"), host("h3")};
  fleet.clusters = {cluster({set(2)}, 2)};
  fleet.groups = {group("storage-1", "h1", "storage-0"), group("storage-2", "h1", "storage-1", 1)};
  const Inventory inventory = build(fleet);
  Planner planner(inventory);
  const Rebalance result = rebalance(planner, {});
  ASSERT_FALSE(result.moves.empty());
  EXPECT_EQ(result.moves[0].why, "violations");
  EXPECT_EQ(result.before.violations, 1);
  EXPECT_EQ(result.after.violations, 0);
}

TEST(Rebalance, ExplainsEveryMove) {
  Fleet fleet;
  fleet.hosts = {host("h1"), host("h2"), host("h3"), host("h4", 50)};
  fleet.hosts[1].is_draining = true;
  fleet.clusters = {cluster({set(2)}, 2)};
  fleet.groups = {group("storage-1", "h1", "storage-0"), group("storage-2", "h1", "storage-1", 1)};
  const Inventory inventory = build(fleet);
  Planner planner(inventory);
  RebalanceOptions options;
  options.has_explanations = true;
  const Rebalance result = rebalance(planner, options);
  ASSERT_EQ(result.moves.size(), 1u);
  const MoveExplanation& why = result.moves[0].explanation;
  EXPECT_EQ(why.deciding_term, "only");
  ASSERT_EQ(why.candidates.size(), 1u);
  EXPECT_EQ(why.candidates[0].terms.violations, -1);
  EXPECT_EQ(why.candidates.size() + why.refused.size() + 1, inventory.hosts().size());
  const std::vector<std::string> text = explain_text(planner.state(), result.moves[0]);
  EXPECT_THAT(text, ElementsAre(::testing::StartsWith(
                                    "storage-1 of c on h1 becomes storage-3 on h3 for violations"),
                                ::testing::StartsWith("h3, the only host that can take it: "
                                                      "violations -1, spread +0, score 0."),
                                "refused: 2 of 4 hosts (1 by host_not_draining, 1 by storage_room)",
                                "  h2: host_not_draining: is draining",
                                "  h4: storage_room: disk of 100 MiB does not fit: file:nvme has "
                                "room for 50 MiB"));
}

}  // namespace
}  // namespace fdbpack::place
