// SPDX-License-Identifier: Apache-2.0
//
// What holds for every rebalance. A failure prints its seed; FDBPACK_SEED=n replays it.
#include "builders.hpp"
#include "fdbpack/place/generate.hpp"
#include "fdbpack/place/rebalance.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace fdbpack::place {
namespace {

using testing::build;
using testing::first_seed;
using testing::plan_of;
using testing::seed_count;

// Every move copies the group's data, so none is of what another move has put there.
void expect_single_moves(const Rebalance& result) {
  std::set<std::pair<std::string, std::string>> made;
  for (const Replacement& move : result.moves) {
    EXPECT_FALSE(made.contains({move.cluster, move.id})) << move.id;
    made.emplace(move.cluster, move.new_id);
  }
}

// Whatever it starts from: never worse, never a new violation, and nothing left to do on its own
// result, which is built anew from the fleet with the moves carried out.
TEST(RebalanceProperty, IsIdempotentAndNeverWorse) {
  int needed = 0;
  for (std::uint64_t seed = first_seed(), n = 0; n < seed_count(1000); ++seed, ++n) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GenerateOptions options;
    options.hosts = static_cast<int>(4 + seed % 9);
    options.groups_per_host = 3;
    options.clusters = seed % 3 == 0 ? 2 : 1;
    options.domains = seed % 2 == 0 ? 3 : 0;
    options.is_required = seed % 4 == 0;
    options.seed = seed;
    const Inventory inventory = build(*generate_fleet(options));
    Planner planner(inventory);
    const Rebalance first = rebalance(planner, {});
    EXPECT_LE(first.after.violations, first.before.violations);
    EXPECT_LE(first.after.score(), first.before.score() + 1e-9);
    if (!first.moves.empty()) {
      EXPECT_NEAR(first.moves.back().score, first.after.score(), 1e-9);
    }
    if (!first.has_second_moves) expect_single_moves(first);
    needed += first.has_second_moves ? 1 : 0;
    const Inventory after = build(apply(inventory.fleet(), first));
    EXPECT_EQ(after.groups().size(), inventory.groups().size());
    Planner again(after);
    const Rebalance second = rebalance(again, {});
    ASSERT_TRUE(second.moves.empty());
    ASSERT_EQ(second.before.score(), first.after.score());
    // What was in balance for the spec still is.
    ASSERT_TRUE(plan_of(after).placed.empty());
  }
  // These fleets have room: no group has to go by way of another host.
  EXPECT_EQ(needed, 0);
}

// Above the size where every pair of hosts is looked at.
TEST(RebalanceProperty, IsIdempotentOnALargeFleet) {
  GenerateOptions options;
  options.hosts = 300;
  options.domains = 5;
  const Inventory inventory = build(*generate_fleet(options));
  Planner planner(inventory);
  const Rebalance first = rebalance(planner, {});
  EXPECT_LT(first.after.score(), first.before.score() / 2);
  if (!first.has_second_moves) expect_single_moves(first);
  const Inventory after = build(apply(inventory.fleet(), first));
  Planner again(after);
  EXPECT_TRUE(rebalance(again, {}).moves.empty());
}

}  // namespace
}  // namespace fdbpack::place
