// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/place/htools/capacity.hpp"
#include "fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace fdbpack::place::htools {
namespace {

constexpr std::int64_t kMemoryStep = 64;
constexpr std::int64_t kDiskStep = 256;
// Answers of nodes in one forecast. Real clusters need some ten thousands.
constexpr std::int64_t kVerdictsMax = 3 * kForecastMax;
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

// Null: it has none that could be made smaller.
std::int64_t* amount_of(Instance& instance, Lack lack) {
  switch (lack) {
    case Lack::memory:
      return &instance.memory;
    case Lack::disk:
      return &instance.disk;
    case Lack::cpu:
      return &instance.vcpus;
    case Lack::spindles:
      return instance.spindles ? &*instance.spindles : nullptr;
    case Lack::tags:
    case Lack::disk_count:
    case Lack::offline:
      return nullptr;
  }
  return nullptr;
}

// The smallest size, in steps of `lack` alone, to which every node answers as it does to this one.
Instance lowest_alike(const Cluster& cluster, const std::vector<NodeLoad>& loads, Instance wanted,
                      Lack lack) {
  std::int64_t* const place = amount_of(wanted, lack);
  if (place == nullptr) return wanted;
  std::int64_t& amount = *place;
  const std::int64_t step = lack == Lack::memory ? kMemoryStep : lack == Lack::disk ? kDiskStep : 1;
  std::int64_t bound = step - 1;  // below this shrink() does not go
  for (std::size_t n = 0; n < cluster.nodes.size(); ++n) {
    if (!cluster.nodes[n].is_offline)
      bound = std::max(bound, next_change(cluster, n, loads[n], lack, amount));
  }
  if (amount > bound) amount -= (amount - bound - 1) / step * step;
  return wanted;
}

class Tiers {
 public:
  explicit Tiers(const Cluster& cluster)
      : now_{cluster, load_nodes(cluster, tag_rules(cluster), {}), {}} {}

  // Everything down from the largest size.
  Status add(const Instance& largest) {
    fill(largest);
    if (instances_ > kForecastMax) return fail(too_many_instances());
    if (verdicts_left_ >= 0) return {};
    return fail(ErrorCode::invalid_argument,
                fmt::format("the forecast of smaller and smaller instances was given up after {} "
                            "looks at nodes",
                            kVerdictsMax));
  }
  [[nodiscard]] const std::vector<Tier>& tiers() const { return now_.tiers; }

 private:
  struct State {
    Cluster cluster;
    std::vector<NodeLoad> loads;
    std::vector<Tier> tiers;
  };
  using Lacks = std::map<Lack, int>;

  [[nodiscard]] bool is_over() const { return verdicts_left_ < 0 || instances_ > kForecastMax; }

  // Why the node refuses the instance; when it does not, `taken` is what it takes of each unit.
  std::optional<Lack> lack_of(std::size_t n, const Instance& wanted,
                              std::vector<std::int64_t>& taken) {
    --verdicts_left_;
    const Node& node = now_.cluster.nodes[n];
    const Policy& policy = now_.cluster.groups[node.group].policy;
    if (const auto lack = policy_lack(policy, wanted, node.has_exclusive_storage)) return lack;
    taken.assign(node.storage.size(), 0);
    const auto refused = refuse(now_.cluster, n, now_.loads[n], wanted, {}, 0, taken);
    return refused ? std::optional(refused->lack) : std::nullopt;
  }

  void put(std::size_t n, const Instance& wanted, const std::vector<std::int64_t>& taken) {
    Node& node = now_.cluster.nodes[n];
    NodeLoad& load = now_.loads[n];
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
  Lacks place(const Instance& wanted) {
    Lacks lacks;
    const std::int64_t before = instances_;
    std::vector<std::int64_t> taken;
    for (std::size_t n = 0; n < now_.cluster.nodes.size() && !is_over(); ++n) {
      if (now_.cluster.nodes[n].is_offline) continue;
      std::optional<Lack> lack;
      while (!(lack = lack_of(n, wanted, taken)) && !is_over()) {
        put(n, wanted, taken);
        ++instances_;
      }
      if (lack) ++lacks[*lack];
    }
    if (instances_ == before) return lacks;
    const Spec spec{wanted.memory, wanted.vcpus, wanted.disk, 1, 1, wanted.spindles.value_or(0)};
    now_.tiers.push_back({spec, instances_ - before});
    return lacks;
  }

  // What each node lacks for the instance; nothing when some node takes it.
  std::optional<Lacks> lacks_of(const Instance& wanted) {
    Lacks lacks;
    std::vector<std::int64_t> taken;
    for (std::size_t n = 0; n < now_.cluster.nodes.size(); ++n) {
      if (now_.cluster.nodes[n].is_offline) continue;
      const std::optional<Lack> lack = lack_of(n, wanted, taken);
      if (!lack) return std::nullopt;
      ++lacks[*lack];
    }
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
  std::optional<Instance> shrink_until_fits(const Instance& wanted, Lack lack) {
    auto next = shrink(wanted, lack);
    while (next && !is_over()) {
      const std::optional<Lacks> lacks = lacks_of(*next);
      if (!lacks) return next;
      if (!lacks->contains(lack)) return std::nullopt;
      next = shrink(lowest_alike(now_.cluster, now_.loads, *next, lack), lack);
    }
    return std::nullopt;
  }

  // Sizes in which nothing fits are passed in a loop; only where a step by the scarcest resource
  // leads nowhere, another one is tried alone.
  void fill(Instance wanted) {
    while (!is_over()) {
      const Lacks lacks = place(wanted);
      std::optional<Instance> next = step(wanted, lacks);
      if (!next) return;
      wanted = *std::move(next);
    }
  }

  // Sizes between two at which an answer changes are alike: of these only the smallest is kept. The
  // larger ones lead to the same size by the scarcest resource, and to nothing by another one when
  // the smallest, which is tried before them, led to nothing.
  std::optional<Instance> step(const Instance& wanted, const Lacks& wanted_lacks) {
    // Down by whatever is scarcest at each size, until something fits.
    std::vector<Instance> path;
    std::vector<std::vector<Lack>> orders;
    std::optional<Instance> smaller = wanted;
    std::optional<Lacks> lacks = wanted_lacks;
    while (smaller && !is_over()) {
      if (lacks->empty()) return std::nullopt;  // no node is online
      orders.push_back(sorted(*std::move(lacks)));
      const Lack scarcest = orders.back().back();
      path.push_back(lowest_alike(now_.cluster, now_.loads, *std::move(smaller), scarcest));
      smaller = shrink(path.back(), scarcest);
      if (!smaller) break;
      lacks = lacks_of(*smaller);
      if (!lacks) return smaller;
    }
    // The smallest size first, as the recursion of the reference program unwinds.
    for (std::size_t i = path.size(); i-- > 0 && !is_over();) {
      for (auto lack = orders[i].rbegin(); lack != orders[i].rend(); ++lack) {
        if (auto found = shrink_until_fits(path[i], *lack)) return found;
      }
    }
    return std::nullopt;
  }

  State now_;
  std::int64_t instances_ = 0;
  std::int64_t verdicts_left_ = kVerdictsMax;
};

}  // namespace

Result<std::vector<Tier>> forecast_tiered(const Cluster& cluster) {
  if (fails_n1(cluster, load_nodes(cluster, tag_rules(cluster), {}))) return std::vector<Tier>{};
  Tiers tiers(cluster);
  for (const SpecRange& range : cluster.policy.ranges) {
    FDBPACK_TRY(const Instance largest, instance_of(cluster, range.max));
    FDBPACK_TRY_VOID(tiers.add(largest));
  }
  return tiers.tiers();
}

}  // namespace fdbpack::place::htools
