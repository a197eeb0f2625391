// SPDX-License-Identifier: Apache-2.0
#include "balance_state.hpp"

#include <algorithm>
#include <cmath>

namespace fdbpack::place::htools {
namespace {

// free memory, vcpu ratio, load (cpu, memory and net alike), disk load, and the two with
// forthcoming instances.
constexpr std::array<double, 6> kWeights = {0.5, 0.5, 3.0, 1.0, 0.5, 0.5};
constexpr std::array<double, 6> kDirections = {-1, 1, 1, 1, -1, 1};
constexpr std::array<std::size_t, 6> kFixed = {1, 3, 12, 14, 16, 19};
constexpr std::array<std::size_t, 6> kCounts = {2, 4, 5, 11, 17, 18};
constexpr int kSumAgain = 64;  // moves after which rounding errors are cleared

bool is_subset(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::includes(b.begin(), b.end(), a.begin(), a.end());
}

int count_of(const std::vector<std::pair<int, int>>& tags, int tag) {
  for (const auto& [id, count] : tags) {
    if (id == tag) return count;
  }
  return 0;
}

}  // namespace

Effect Effect::operator-() const {
  return {-memory, -memory_forth, -vcpus, -vcpus_forth, -load, -primaries};
}

Effect Effect::operator+(const Effect& o) const {
  return {memory + o.memory, memory_forth + o.memory_forth,
          vcpus + o.vcpus,   vcpus_forth + o.vcpus_forth,
          load + o.load,     primaries + o.primaries};
}

BalanceState::BalanceState(const Cluster& cluster, const std::vector<std::int32_t>& nodes,
                           const ScoreOptions& options)
    : cluster_(cluster), tag_rules_(tag_rules(cluster)), nodes_(cluster.nodes.size()) {
  const std::vector<NodeLoad> loads = load_nodes(cluster, tag_rules_, options);
  instances_.resize(nodes_.size());
  for (const std::int32_t n : nodes) {
    const Node& facts = cluster.nodes[at(n)];
    const NodeLoad& load = loads[at(n)];
    NodeNow& node = nodes_[at(n)];
    node.per_memory = 1.0 / facts.total_memory;
    node.per_cpu = 1.0 / (facts.cores * facts.cpu_speed);
    const double ratio = cluster.groups[facts.group].policy.vcpu_ratio;
    node.vcpus_max = ratio < 0 ? std::numeric_limits<double>::infinity() : ratio * facts.cores;
    node.reserved = load.reserved;
    node.secondaries = load.secondaries;
    node.now = {load.unallocated, load.memory_forth, load.vcpus,     load.vcpus_forth,
                load.load,        load.disk_load,    load.primaries, load.fails_n1};
    node.is_offline = facts.is_offline;
    node.is_in_group = true;
    if (!facts.is_offline) online_.push_back(n);
    has_migration_ = has_migration_ || !tag_rules_.migration[at(n)].empty();
  }
  std::map<std::string, int> tag_numbers;
  for (std::size_t i = 0; i < cluster.instances.size(); ++i) {
    const Instance& instance = cluster.instances[i];
    const std::int64_t vcpus = is_switched_off(instance) ? 0 : instance.vcpus;
    const int one = instance.is_forthcoming ? 0 : 1;
    effects_.push_back({uses_memory(instance) ? instance.memory : 0, instance.memory, vcpus * one,
                        vcpus, options.ignore_dynu ? 0 : one, one});
    std::vector<int> ids;
    for (const std::string& tag : tag_rules_.exclusion[i]) {
      ids.push_back(
          tag_numbers.try_emplace(tag, static_cast<int>(tag_numbers.size())).first->second);
    }
    has_tags_ = has_tags_ || !ids.empty() || !tag_rules_.desired[i].empty();
    tag_ids_.push_back(std::move(ids));
    node_of_.push_back(instance.primary);
    // Whoever set auto balance to no wants it where it is, off an offline node too.
    const bool is_movable = instance.is_auto_balanced &&
                            is_movable_single(instance.disk_template) &&
                            nodes_[at(instance.primary)].is_in_group;
    is_movable_.push_back(is_movable);
    if (is_movable) instances_[at(instance.primary)].push_back(static_cast<std::int32_t>(i));
    if (nodes_[at(instance.primary)].is_in_group)
      change_tags(static_cast<std::int32_t>(i), instance.primary, 1);
  }
  const Score start = score(cluster, nodes, options);
  for (const std::size_t metric : kFixed) {
    fixed_ += kMetrics[metric].weight * start.metrics[metric];
  }
  for (const std::size_t metric : kCounts) {
    counts_ += kMetrics[metric].weight * start.metrics[metric];
  }
  sum_up();
}

BalanceState::Values BalanceState::values_of(const NodeNow& node, const Load& load) {
  return {static_cast<double>(load.unallocated) * node.per_memory,
          static_cast<double>(load.vcpus) * node.per_cpu,
          static_cast<double>(load.load),
          static_cast<double>(load.disk_load),
          static_cast<double>(load.memory_forth) * node.per_memory,
          static_cast<double>(load.vcpus_forth) * node.per_cpu};
}

void BalanceState::sum_up() {
  deviations_ = {};
  for (const std::int32_t n : online_) {
    nodes_[at(n)].values = values_of(nodes_[at(n)], nodes_[at(n)].now);
    for (std::size_t m = 0; m < kDeviations; ++m)
      deviations_[m].insert(nodes_[at(n)].values[m]);
  }
  total_ = fixed_ + counts_;
  for (std::size_t m = 0; m < kDeviations; ++m)
    total_ += kWeights[m] * deviations_[m].population();
  moves_since_sum_ = 0;
}

BalanceState::Load BalanceState::with(const NodeNow& node, const Effect& effect) {
  Load after = node.now;
  after.unallocated -= effect.memory;
  after.memory_forth -= effect.memory_forth;
  after.vcpus += effect.vcpus;
  after.vcpus_forth += effect.vcpus_forth;
  after.load += effect.load;
  after.disk_load += effect.load;
  after.primaries += effect.primaries;
  if (effect.primaries != 0 || effect.memory != 0)
    after.fails_n1 = after.unallocated <= node.reserved;
  return after;
}

double BalanceState::n1_count(const NodeNow& node, const Load& load) {
  return !node.is_offline && load.fails_n1 ? load.primaries + node.secondaries : 0;
}

bool BalanceState::may_take(const NodeNow& before, const Load& after, const Effect& gets,
                            bool is_forced) {
  if (gets.primaries > 0 && after.unallocated <= 0) return false;
  if (is_forced) return true;
  if (gets.primaries > 0 && after.fails_n1 && !before.now.fails_n1) return false;
  return after.memory_forth > 0 && static_cast<double>(after.vcpus) <= before.vcpus_max &&
         static_cast<double>(after.vcpus_forth) <= before.vcpus_max;
}

bool BalanceState::may_migrate(std::int32_t from, std::int32_t to) const {
  return !has_migration_ || is_subset(tag_rules_.migration[at(from)], tag_rules_.receives[at(to)]);
}

bool BalanceState::has_tag_conflict(std::int32_t instance, std::int32_t to) const {
  const std::vector<int>& ids = tag_ids_[at(instance)];
  return std::any_of(ids.begin(), ids.end(),
                     [&](int tag) { return count_of(nodes_[at(to)].tags, tag) > 0; });
}

// How the weighted tag and location counts change. Offline nodes do not count.
double BalanceState::tag_change(std::int32_t instance, std::int32_t from, std::int32_t to) const {
  const bool leaves_online = !nodes_[at(from)].is_offline;
  const bool is_real = !cluster_.instances[at(instance)].is_forthcoming;
  int tags = 0;
  int places = 0;
  int pairs = 0;
  for (const int tag : tag_ids_[at(instance)]) {
    if (leaves_online && count_of(nodes_[at(from)].tags, tag) > 1) --tags;
    if (count_of(nodes_[at(to)].tags, tag) > 0) ++tags;
  }
  if (!is_real) return 2.0 * tags;
  const std::set<std::string>& here = tag_rules_.locations[at(from)];
  const std::set<std::string>& there = tag_rules_.locations[at(to)];
  for (const std::string& tag : tag_rules_.desired[at(instance)]) {
    places += (there.contains(tag) ? 0 : 1) - (leaves_online && !here.contains(tag) ? 1 : 0);
  }
  for (const std::string& tag : tag_rules_.exclusion[at(instance)]) {
    const auto count = [&](const std::string& location) {
      const auto found = pairs_.find({location, tag});
      return found == pairs_.end() ? 0 : found->second;
    };
    for (const std::string& location : here) {
      if (leaves_online && !there.contains(location) && count(location) > 1) --pairs;
    }
    for (const std::string& location : there) {
      const bool was_here = leaves_online && here.contains(location);
      if (!was_here && count(location) > 0) ++pairs;
    }
  }
  return 2.0 * tags + places + pairs;
}

double BalanceState::score_of(const NodeNow& a, const Load& a_after, const NodeNow& b,
                              const Load& b_after) const {
  double sum = fixed_ + counts_;
  sum += n1_count(a, a_after) - n1_count(a, a.now) + n1_count(b, b_after) - n1_count(b, b.now);
  if (a.is_offline) sum += (4.0 + 16.0) * (a_after.primaries - a.now.primaries);
  const Values a_values = values_of(a, a_after);
  const Values b_values = values_of(b, b_after);
  const double a_counts = a.is_offline ? 0.0 : 1.0;
  const double per_n = 1.0 / deviations_[0].n;
  Values spread;
  for (std::size_t m = 0; m < kDeviations; ++m) {
    const double da = a_counts * (a_values[m] - a.values[m]);
    const double db = b_values[m] - b.values[m];
    const double squares = deviations_[m].squares + da * (a_values[m] + a.values[m]) +
                           db * (b_values[m] + b.values[m]);
    const double s = deviations_[m].sum + da + db;
    spread[m] = (squares - s * s * per_n) * per_n;
  }
  for (std::size_t m = 0; m < kDeviations; ++m)
    sum += kWeights[m] * std::sqrt(std::max(0.0, spread[m]));
  return sum;
}

double BalanceState::score_of_move(std::int32_t instance, std::int32_t to) const {
  const std::int32_t from = node_of_[at(instance)];
  const NodeNow& a = nodes_[at(from)];
  const NodeNow& b = nodes_[at(to)];
  const Effect& effect = effects_[at(instance)];
  const Load b_after = with(b, effect);
  if (!may_take(b, b_after, effect, a.is_offline) || !may_migrate(from, to)) return kImpossible;
  const double sum = score_of(a, with(a, -effect), b, b_after);
  if (!has_tags_) return sum;
  if (!a.is_offline && has_tag_conflict(instance, to)) return kImpossible;
  return sum + tag_change(instance, from, to);
}

double BalanceState::score_of_swap(std::int32_t a, std::int32_t b) const {
  // Tags of one could make room for the other; such swaps are left to single moves.
  if (has_tags_ && !(tag_ids_[at(a)].empty() && tag_ids_[at(b)].empty())) return kImpossible;
  const std::int32_t p = node_of_[at(a)];
  const std::int32_t q = node_of_[at(b)];
  const NodeNow& first = nodes_[at(p)];
  const NodeNow& second = nodes_[at(q)];
  if (first.is_offline || second.is_offline || !may_migrate(p, q) || !may_migrate(q, p)) {
    return kImpossible;
  }
  const Effect to_first = -effects_[at(a)] + effects_[at(b)];
  const Load first_after = with(first, to_first);
  const Load second_after = with(second, -to_first);
  if (!may_take(first, first_after, effects_[at(b)], false)) return kImpossible;
  if (!may_take(second, second_after, effects_[at(a)], false)) return kImpossible;
  const double sum = score_of(first, first_after, second, second_after);
  return has_tags_ ? sum + tag_change(a, p, q) + tag_change(b, q, p) : sum;
}

void BalanceState::change_tags(std::int32_t instance, std::int32_t node, int sign) {
  for (const int tag : tag_ids_[at(instance)]) {
    auto& tags = nodes_[at(node)].tags;
    const auto found =
        std::find_if(tags.begin(), tags.end(), [&](const auto& e) { return e.first == tag; });
    if (found == tags.end()) {
      tags.emplace_back(tag, sign);
    } else {
      found->second += sign;
    }
  }
  if (nodes_[at(node)].is_offline || cluster_.instances[at(instance)].is_forthcoming) return;
  for (const std::string& location : tag_rules_.locations[at(node)]) {
    for (const std::string& tag : tag_rules_.exclusion[at(instance)])
      pairs_[{location, tag}] += sign;
  }
}

void BalanceState::move(std::int32_t instance, std::int32_t to) {
  const std::int32_t from = node_of_[at(instance)];
  const Effect& effect = effects_[at(instance)];
  if (has_tags_) counts_ += tag_change(instance, from, to);
  for (const bool is_target : {false, true}) {
    const std::int32_t n = is_target ? to : from;
    NodeNow& node = nodes_[at(n)];
    const Effect change = is_target ? effect : -effect;
    const Load after = with(node, change);
    counts_ += n1_count(node, after) - n1_count(node, node.now);
    if (node.is_offline) counts_ += 20.0 * change.primaries;
    node.now = after;
    if (has_tags_) change_tags(instance, n, is_target ? 1 : -1);
    if (node.is_offline) continue;
    const Values values = values_of(node, node.now);
    for (std::size_t m = 0; m < kDeviations; ++m)
      deviations_[m].replace(node.values[m], values[m]);
    node.values = values;
  }
  auto& source = instances_[at(from)];
  source.erase(std::find(source.begin(), source.end(), instance));
  auto& target = instances_[at(to)];
  target.insert(std::lower_bound(target.begin(), target.end(), instance), instance);
  node_of_[at(instance)] = to;
  if (++moves_since_sum_ >= kSumAgain) {
    sum_up();
    return;
  }
  total_ = fixed_ + counts_;
  for (std::size_t m = 0; m < kDeviations; ++m)
    total_ += kWeights[m] * deviations_[m].population();
}

void BalanceState::prepare_heat() {
  heat_offset_ = 0;
  for (std::size_t m = 0; m < kDeviations; ++m) {
    const double deviation = deviations_[m].population();
    heat_factors_[m] = deviation < 1e-12 ? 0.0 : kWeights[m] * kDirections[m] / deviation;
    heat_offset_ -= heat_factors_[m] * deviations_[m].sum / std::max(1.0, deviations_[m].n);
  }
}

double BalanceState::heat(std::int32_t node) const {
  const NodeNow& it = nodes_[at(node)];
  if (it.is_offline) return 1e12 + it.now.primaries;
  double sum = heat_offset_ + (it.now.fails_n1 ? 1e6 : 0.0);
  for (std::size_t m = 0; m < kDeviations; ++m)
    sum += heat_factors_[m] * it.values[m];
  return sum;
}

}  // namespace fdbpack::place::htools
