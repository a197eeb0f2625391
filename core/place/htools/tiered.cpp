// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/place/htools/capacity.hpp"
#include "fit.hpp"

#include <algorithm>
#include <array>

namespace fdbpack::place::htools {
namespace {

constexpr std::int64_t kMemoryStep = 64;
constexpr std::int64_t kDiskStep = 256;
// Those that can be made smaller are what matters; ties go to the later one.
constexpr std::array kLacks = {Lack::memory, Lack::disk,       Lack::cpu,
                               Lack::tags,   Lack::disk_count, Lack::spindles};

// One step smaller, or nothing when it is as small as can be.
std::optional<Instance> shrink(Instance instance, Lack lack) {
  switch (lack) {
    case Lack::memory:
      instance.memory -= kMemoryStep;
      return instance.memory < kMemoryStep ? std::nullopt : std::optional(instance);
    case Lack::disk:
      instance.disk -= kDiskStep;
      return instance.disk < kDiskStep ? std::nullopt : std::optional(instance);
    case Lack::cpu:
      --instance.vcpus;
      return instance.vcpus < 1 ? std::nullopt : std::optional(instance);
    case Lack::spindles:
      if (instance.spindles) --*instance.spindles;
      return !instance.spindles || *instance.spindles < 1 ? std::nullopt : std::optional(instance);
    case Lack::tags:
    case Lack::disk_count:
    case Lack::offline:
      return std::nullopt;
  }
  return std::nullopt;
}

class Tiers {
 public:
  explicit Tiers(const Cluster& cluster)
      : now_{cluster, load_nodes(cluster, tag_rules(cluster), {}), {}} {}

  void add(const Instance& largest) { now_ = fill(std::move(now_), largest); }
  [[nodiscard]] const std::vector<Tier>& tiers() const { return now_.tiers; }

 private:
  struct State {
    Cluster cluster;
    std::vector<NodeLoad> loads;
    std::vector<Tier> tiers;

    [[nodiscard]] std::int64_t instances() const {
      std::int64_t sum = 0;
      for (const Tier& tier : tiers)
        sum += tier.instances;
      return sum;
    }
  };
  using Lacks = std::map<Lack, int>;

  // Why the node refuses the instance; when it does not, `taken` is what it takes of each unit.
  static std::optional<Lack> lack_of(const State& state, std::size_t n, const Instance& wanted,
                                     std::vector<std::int64_t>& taken) {
    const Node& node = state.cluster.nodes[n];
    const Policy& policy = state.cluster.groups[node.group].policy;
    if (const auto lack = policy_lack(policy, wanted, node.has_exclusive_storage)) return lack;
    taken.assign(node.storage.size(), 0);
    const auto refused = refuse(state.cluster, n, state.loads[n], wanted, {}, 0, taken);
    return refused ? std::optional(refused->lack) : std::nullopt;
  }

  static void put(State& state, std::size_t n, const Instance& wanted,
                  const std::vector<std::int64_t>& taken) {
    Node& node = state.cluster.nodes[n];
    NodeLoad& load = state.loads[n];
    load.unallocated -= wanted.memory;
    load.memory_forth -= wanted.memory;
    load.vcpus += wanted.vcpus;
    for (std::size_t u = 0; u < taken.size(); ++u)
      node.storage[u].free -= taken[u];
    if (!uses_node_disk(wanted.disk_template)) return;
    node.free_disk -= wanted.disk;
    if (node.has_exclusive_storage) {
      node.free_spindles -= wanted.spindles.value_or(0);
    } else {
      load.spindles += static_cast<double>(wanted.spindle_use);
    }
  }

  // As many as fit, node by node: alike as they are, the order does not change how many. Returns
  // what each node lacks for one more.
  static Lacks place(State& state, const Instance& wanted) {
    Lacks lacks;
    std::int64_t count = 0;
    std::vector<std::int64_t> taken;
    for (std::size_t n = 0; n < state.cluster.nodes.size(); ++n) {
      if (state.cluster.nodes[n].is_offline) continue;
      std::optional<Lack> lack = lack_of(state, n, wanted, taken);
      for (; !lack; lack = lack_of(state, n, wanted, taken), ++count)
        put(state, n, wanted, taken);
      ++lacks[*lack];
    }
    if (count == 0) return lacks;
    const Spec spec{wanted.memory, wanted.vcpus, wanted.disk, 1, 1, wanted.spindles.value_or(0)};
    state.tiers.push_back({spec, count});
    return lacks;
  }

  // Resources by how many nodes lack them, the one that most lack last.
  static std::vector<Lack> sorted(Lacks lacks) {
    std::vector<Lack> out(kLacks.begin(), kLacks.end());
    std::stable_sort(out.begin(), out.end(), [&](Lack a, Lack b) { return lacks[a] < lacks[b]; });
    return out;
  }

  // The first size, when only this one resource is made smaller, that some node takes; nothing once
  // no node lacks that resource any more.
  static std::optional<Instance> shrink_until_fits(const State& state, Instance wanted, Lack lack) {
    std::vector<std::int64_t> taken;
    for (auto next = shrink(std::move(wanted), lack); next; next = shrink(*next, lack)) {
      bool is_lacked = false;
      for (std::size_t n = 0; n < state.cluster.nodes.size(); ++n) {
        if (state.cluster.nodes[n].is_offline) continue;
        const std::optional<Lack> here = lack_of(state, n, *next, taken);
        if (!here) return next;
        is_lacked = is_lacked || *here == lack;
      }
      if (!is_lacked) return std::nullopt;
    }
    return std::nullopt;
  }

  // Sizes in which nothing fits are passed in a loop; only where a step by the scarcest resource
  // leads nowhere, another one is tried alone.
  static State fill(State state, Instance wanted) {
    while (true) {
      const std::vector<Lack> order = sorted(place(state, wanted));
      std::optional<Instance> next = step(state, wanted, order);
      if (!next) return state;
      wanted = *std::move(next);
    }
  }

  static std::optional<Instance> step(const State& state, const Instance& wanted,
                                      const std::vector<Lack>& order) {
    // Down by whatever is scarcest at each size, until something fits.
    std::vector<Instance> path{wanted};
    std::vector<std::vector<Lack>> orders{order};
    while (auto smaller = shrink(path.back(), orders.back().back())) {
      Lacks lacks;
      std::vector<std::int64_t> taken;
      for (std::size_t n = 0; n < state.cluster.nodes.size(); ++n) {
        if (state.cluster.nodes[n].is_offline) continue;
        const std::optional<Lack> lack = lack_of(state, n, *smaller, taken);
        if (!lack) return smaller;
        ++lacks[*lack];
      }
      path.push_back(*std::move(smaller));
      orders.push_back(sorted(std::move(lacks)));
    }
    // The smallest size first, as the recursion of the reference program unwinds.
    for (std::size_t i = path.size(); i-- > 0;) {
      for (auto lack = orders[i].rbegin(); lack != orders[i].rend(); ++lack) {
        if (auto found = shrink_until_fits(state, path[i], *lack)) return found;
      }
    }
    return std::nullopt;
  }

  State now_;
};

}  // namespace

Result<std::vector<Tier>> forecast_tiered(const Cluster& cluster) {
  if (fails_n1(cluster, load_nodes(cluster, tag_rules(cluster), {}))) return std::vector<Tier>{};
  Tiers tiers(cluster);
  for (const SpecRange& range : cluster.policy.ranges) {
    FDBPACK_TRY(const Instance largest, instance_of(cluster, range.max));
    tiers.add(largest);
  }
  return tiers.tiers();
}

}  // namespace fdbpack::place::htools
