// SPDX-License-Identifier: Apache-2.0
//
// The forecast against every way to place groups, on thousands of random small fleets. A failure
// prints its seed; FDBPACK_SEED=n replays it.
#include "builders.hpp"
#include "fdbpack/base/random.hpp"
#include "fdbpack/place/capacity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace fdbpack::place {
namespace {

using testing::build;
using testing::cluster;
using testing::first_seed;
using testing::group;
using testing::host_in;
using testing::seed_count;
using testing::set;
using testing::shape;

int pick(Random& random, int low, int high) {
  return static_cast<int>(random.between(low, high));
}

// Groups of one shape, one disk each, on hosts or racks of 0 to 4 such groups. Shares no code with
// the engine: states are remembered, so each is looked at once.
class MostGroups {
 public:
  struct Physical {
    int room = 0;
    int domain = -1;  // -1: carries none; -2: several, or one that is not desired
    auto operator<=>(const Physical&) const = default;
  };

  MostGroups(int domains, int desired) : domains_(domains), desired_(desired) {}

  int solve(std::vector<Physical> places, const std::vector<int>& counts, int groups) {
    if (domains_ == 0) {
      int sum = 0;
      for (const Physical& place : places)
        sum += place.room;
      return sum;
    }
    const auto key = std::pair(places, counts);
    if (const auto known = seen_.find(key); known != seen_.end()) return known->second;
    const int max = (std::max(desired_, groups + 1) + domains_ - 1) / domains_;
    int best = 0;
    for (std::size_t p = 0; p < places.size(); ++p) {
      for (int k = 0; k < domains_; ++k) {
        const bool fits = places[p].room > 0 && counts[static_cast<std::size_t>(k)] < max &&
                          (places[p].domain == -1 || places[p].domain == k);
        if (!fits) continue;
        std::vector<Physical> after = places;
        std::vector<int> then = counts;
        after[p] = {places[p].room - 1, k};
        ++then[static_cast<std::size_t>(k)];
        best = std::max(best, 1 + solve(std::move(after), then, groups + 1));
      }
    }
    return seen_[key] = best;
  }

 private:
  int domains_;
  int desired_;
  std::map<std::pair<std::vector<Physical>, std::vector<int>>, int> seen_;
};

TEST(CapacityProperty, ForecastsWhatBruteForceFinds) {
  for (std::uint64_t seed = first_seed(), n = 0; n < seed_count(3000); ++seed, ++n) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const int domains = random.chance(0.8) ? pick(random, 1, 3) : 0;
    const bool is_racks = random.chance(0.3);
    Fleet fleet;
    std::map<std::string, MostGroups::Physical> places;
    std::map<std::string, int> room;
    std::map<std::string, std::string> rack;
    const int hosts = pick(random, 1, 5);
    for (int h = 0; h < hosts; ++h) {
      const std::string id = "h" + std::to_string(h);
      room[id] = pick(random, 0, 4);
      rack[id] = is_racks ? "r" + std::to_string(pick(random, 0, 2)) : id;
      fleet.hosts.push_back(host_in(id, "rack", rack[id], 100 * room[id] + pick(random, 0, 90)));
      places[rack[id]];
    }
    const int desired = pick(random, 1, 4);
    fleet.clusters = {cluster({set(desired, shape(100))}, domains, random.chance(0.5))};
    fleet.clusters[0].distribution.physical_domain = is_racks ? "rack" : "host";
    std::vector<int> counts(static_cast<std::size_t>(std::max(1, domains)));
    const int groups = pick(random, 0, 3);
    for (int g = 0; g < groups; ++g) {
      const std::string id = "h" + std::to_string(pick(random, 0, hosts - 1));
      const int k = domains == 0 ? 0 : pick(random, 0, domains - 1);
      fleet.groups.push_back(group("storage-" + std::to_string(g + 1), id,
                                   domains == 0 ? "" : "storage-" + std::to_string(k), g));
      --room[id];
      ++counts[static_cast<std::size_t>(k)];
      int& domain = places[rack[id]].domain;
      domain = domain == -1 || domain == k ? k : -2;
    }
    for (const auto& [id, left] : room)
      places[rack[id]].room += std::max(0, left);
    std::vector<MostGroups::Physical> all;
    for (const auto& [name, place] : places)
      all.push_back(place);
    const Inventory inventory = build(fleet);
    Planner planner(inventory);
    const Capacity ours = *capacity(planner, {"c", "storage", "default", "rack"});
    ASSERT_EQ(ours.more, MostGroups(domains, desired).solve(all, counts, groups));
    int sum = 0;
    for (const auto& [name, more] : ours.per_value)
      sum += more;
    ASSERT_EQ(sum, ours.more);
    ASSERT_EQ(planner.state().groups().size(), inventory.groups().size());
  }
}

}  // namespace
}  // namespace fdbpack::place
