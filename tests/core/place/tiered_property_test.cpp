// SPDX-License-Identifier: Apache-2.0
//
// The tiered forecast against one that takes every single step, on random small clusters. A failure
// prints its seed; FDBPACK_SEED=n replays it.
#include "builders.hpp"
#include "fdbpack/base/random.hpp"
#include "fdbpack/place/htools/capacity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace fdbpack::place::htools {
namespace {

using testing::first_seed;
using testing::seed_count;

constexpr std::array kOrder = {Lack::memory, Lack::disk,       Lack::cpu,
                               Lack::tags,   Lack::disk_count, Lack::spindles};

// The recursion as hspace describes it. What a node refuses it asks allocate(), one size at a time.
class SingleSteps {
 public:
  explicit SingleSteps(Cluster cluster) : cluster_(std::move(cluster)) {}

  std::string run() {
    for (const SpecRange& range : cluster_.policy.ranges) {
      std::optional<Instance> wanted = *instance_of(cluster_, range.max);
      while (wanted) {
        fill(*wanted);
        wanted = smaller(*wanted);
      }
    }
    return text_;
  }

 private:
  struct Answer {
    std::map<Lack, int> lacks;
    std::int32_t fitting = kNoNode;
  };

  [[nodiscard]] Answer ask(const Instance& wanted) const {
    const Allocation allocation = *allocate(cluster_, wanted);
    Answer out;
    out.fitting = allocation.node;
    for (const NodeRefusal& refusal : allocation.refused) {
      if (!cluster_.nodes[static_cast<std::size_t>(refusal.node)].is_offline)
        ++out.lacks[refusal.lack];
    }
    return out;
  }

  void fill(const Instance& wanted) {
    int count = 0;
    for (Answer answer = ask(wanted); answer.fitting != kNoNode; answer = ask(wanted), ++count) {
      Node& node = cluster_.nodes[static_cast<std::size_t>(answer.fitting)];
      cluster_.instances.push_back(wanted);
      cluster_.instances.back().primary = answer.fitting;
      node.free_memory -= wanted.memory;
      if (!uses_node_disk(wanted.disk_template)) continue;
      node.free_disk -= wanted.disk;
      if (node.has_exclusive_storage) node.free_spindles -= *wanted.spindles;
    }
    if (count > 0) text_ += show(wanted) + "=" + std::to_string(count) + " ";
  }

  static std::string show(const Instance& one) {
    return std::to_string(one.memory) + "," + std::to_string(one.disk) + "," +
           std::to_string(one.vcpus) + "," + std::to_string(*one.spindles);
  }

  static std::optional<Instance> shrink(Instance one, Lack lack) {
    if (lack == Lack::memory && (one.memory -= 64) >= 64) return one;
    if (lack == Lack::disk && (one.disk -= 256) >= 256) return one;
    if (lack == Lack::cpu && --one.vcpus >= 1) return one;
    if (lack == Lack::spindles && --*one.spindles >= 1) return one;
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Instance> smaller(const Instance& wanted) const {
    std::map<Lack, int> lacks = ask(wanted).lacks;
    if (lacks.empty()) return std::nullopt;
    std::vector<Lack> order(kOrder.begin(), kOrder.end());
    std::stable_sort(order.begin(), order.end(),
                     [&](Lack a, Lack b) { return lacks[a] < lacks[b]; });
    std::reverse(order.begin(), order.end());
    if (const auto next = shrink(wanted, order.front())) {
      if (ask(*next).fitting != kNoNode) return next;
      if (auto found = smaller(*next)) return found;
    }
    for (const Lack lack : order) {
      for (auto next = shrink(wanted, lack); next; next = shrink(*next, lack)) {
        const Answer answer = ask(*next);
        if (answer.fitting != kNoNode) return next;
        if (!answer.lacks.contains(lack)) break;
      }
    }
    return std::nullopt;
  }

  Cluster cluster_;
  std::string text_;
};

Policy any_policy(Random& random, const std::string& disk_template) {
  Policy out;
  out.ranges.clear();
  for (auto n = random.between(1, 2); n > 0; --n) {
    const Spec min{random.between(1, 300), random.between(0, 2), random.between(0, 900), 1, 1, 1};
    const Spec max{random.between(300, 1500), random.between(1, 9), random.between(900, 6000), 1, 1,
                   random.between(1, 6)};
    out.ranges.push_back({min, max});
  }
  out.templates = {disk_template};
  out.vcpu_ratio = static_cast<double>(random.between(1, 30)) / 10;
  out.spindle_ratio = static_cast<double>(random.between(1, 4));
  return out;
}

Cluster any_cluster(Random& random) {
  constexpr std::array kTemplates = {"plain", "ext", "diskless"};
  const std::string disk_template = kTemplates[static_cast<std::size_t>(random.between(0, 2))];
  Cluster out;
  out.policy = any_policy(random, disk_template);
  for (const char* name : {"a", "b"}) {
    Policy policy = random.chance(0.5) ? out.policy : any_policy(random, disk_template);
    if (random.chance(0.1)) policy.templates = {"rbd"};
    out.groups.push_back({name, name, "preferred", std::move(policy)});
  }
  for (auto n = random.between(0, 4); n > 0; --n) {
    Node node;
    node.name = "n" + std::to_string(n);
    node.free_memory = random.between(0, 2500);
    node.total_memory = static_cast<double>(node.free_memory);
    node.free_disk = random.between(0, 9000);
    node.total_disk = static_cast<double>(node.free_disk);
    node.cores = static_cast<double>(random.between(1, 8));
    node.spindles = random.between(1, 6);
    node.free_spindles = random.between(0, 6);
    node.is_offline = random.chance(0.1);
    node.has_exclusive_storage = random.chance(0.3);
    node.group = random.chance(0.5) ? 1 : 0;
    out.nodes.push_back(std::move(node));
  }
  return out;
}

TEST(TieredProperty, SkippedSizesChangeNothing) {
  std::size_t tiers_seen = 0;
  const std::uint64_t count = seed_count(2000);
  for (std::uint64_t seed = first_seed(), n = 0; n < count; ++seed, ++n) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Cluster cluster = any_cluster(random);
    const auto tiers = forecast_tiered(cluster);
    ASSERT_TRUE(tiers.has_value()) << tiers.error().message;
    std::string text;
    for (const Tier& tier : *tiers) {
      text += std::to_string(tier.spec.memory) + "," + std::to_string(tier.spec.disk) + "," +
              std::to_string(tier.spec.vcpus) + "," + std::to_string(tier.spec.spindle_use) + "=" +
              std::to_string(tier.instances) + " ";
    }
    ASSERT_EQ(text, SingleSteps(cluster).run());
    tiers_seen += tiers->size();
  }
  if (count >= 2000) {
    EXPECT_GT(tiers_seen, 800u);
  }
}

}  // namespace
}  // namespace fdbpack::place::htools
