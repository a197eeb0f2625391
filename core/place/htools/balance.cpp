// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/place/htools/balance.hpp"

#include "balance_state.hpp"

#include <algorithm>
#include <optional>

namespace fdbpack::place::htools {
namespace {

constexpr std::size_t kFullSearch =
    20'000;  // up to so many candidates every step looks at all of them
constexpr std::size_t kFirstCircle = 16;
constexpr std::size_t kSwapCircle = 24;
constexpr double kLeast = 1e-9;  // below this a gain is rounding

struct Best {
  double score = 0;
  std::int32_t a = -1;
  std::int32_t b = -1;  // the target node, or the other instance of a swap
};

class Balancer {
 public:
  Balancer(const Cluster& cluster, const std::vector<std::int32_t>& nodes,
           const BalanceOptions& options)
      : options_(options),
        nodes_(nodes),
        state_(cluster, nodes, {options.ignore_dynu}),
        left_(options.candidates_max) {
    std::size_t movable = 0;
    for (const std::int32_t n : nodes)
      movable += state_.movable_on(n).size();
    const std::size_t all = movable * state_.online().size();
    first_circle_ = all <= kFullSearch ? nodes.size() : std::min(kFirstCircle, nodes.size());
  }

  void run() {
    while (can_go_on()) {
      while (can_go_on() && improve_by_move()) {
      }
      if (!can_go_on() || options_.swap_gain_min < 0 || !improve_by_swap()) return;
    }
  }

  [[nodiscard]] std::vector<Move>& moves() { return moves_; }
  [[nodiscard]] std::int64_t candidates() const { return candidates_; }

 private:
  [[nodiscard]] bool can_go_on() const {
    return options_.moves_max < 0 || static_cast<int>(moves_.size()) < options_.moves_max;
  }
  [[nodiscard]] bool is_worth_it(double after) const {
    const double gain = state_.total() - after;
    if (gain <= kLeast) return false;
    return state_.total() > options_.gain_limit || gain >= options_.gain_min;
  }

  // The `count` hottest nodes with something to move, and the `count` coldest that are online; by
  // index, so that ties fall the way they do in a search over everything.
  void sort_by_heat() {
    hot_.clear();
    cold_.clear();
    state_.prepare_heat();
    for (const std::int32_t n : nodes_) {
      const double heat = state_.heat(n);
      if (!state_.movable_on(n).empty()) hot_.emplace_back(-heat, n);
      if (!state_.is_offline(n)) cold_.emplace_back(heat, n);
    }
  }
  static std::vector<std::int32_t> first(std::vector<std::pair<double, std::int32_t>>& from,
                                         std::size_t count) {
    count = std::min(count, from.size());
    if (count < from.size()) {
      std::nth_element(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(count), from.end());
    }
    std::vector<std::int32_t> out;
    for (std::size_t i = 0; i < count; ++i)
      out.push_back(from[i].second);
    std::sort(out.begin(), out.end());
    return out;
  }

  Best best_move(const std::vector<std::int32_t>& from, const std::vector<std::int32_t>& to) {
    std::vector<std::int32_t> instances;
    for (const std::int32_t n : from) {
      instances.insert(instances.end(), state_.movable_on(n).begin(), state_.movable_on(n).end());
    }
    std::sort(instances.begin(), instances.end());
    Best best{state_.total()};
    for (const std::int32_t instance : instances) {
      const std::int32_t home = state_.node_of(instance);
      for (const std::int32_t target : to) {
        if (target == home) continue;
        const double after = state_.score_of_move(instance, target);
        if (after < best.score) best = {after, instance, target};
      }
    }
    candidates_ += static_cast<std::int64_t>(instances.size() * to.size());
    return best;
  }

  bool improve_by_move() {
    sort_by_heat();
    for (std::size_t circle = first_circle_;; circle *= 4) {
      const std::vector<std::int32_t> from = first(hot_, circle);
      const std::vector<std::int32_t> to = first(cold_, circle);
      const std::int64_t before = candidates_;
      const Best best = best_move(from, to);
      if (circle > first_circle_) left_ -= candidates_ - before;
      if (best.a >= 0 && is_worth_it(best.score)) {
        make(best.a, best.b, false);
        return true;
      }
      const bool was_all = circle >= hot_.size() && circle >= cold_.size();
      const auto next = static_cast<std::int64_t>(circle * circle) * 16 * 5;
      if (was_all || next > left_) return false;
    }
  }

  // Two instances change places if one of the two can go first.
  bool improve_by_swap() {
    sort_by_heat();
    const std::vector<std::int32_t> from = first(hot_, std::max(kSwapCircle, first_circle_));
    const std::vector<std::int32_t> to = first(cold_, std::max(kSwapCircle, first_circle_));
    Best best{state_.total() - std::max(options_.swap_gain_min, kLeast)};
    for (const std::int32_t p : from) {
      for (const std::int32_t q : to) {
        if (p == q) continue;
        for (const std::int32_t a : state_.movable_on(p)) {
          for (const std::int32_t b : state_.movable_on(q)) {
            const double after = state_.score_of_swap(a, b);
            if (!(after < best.score) || !has_order(a, b)) continue;
            best = {after, a, b};
          }
        }
        candidates_ +=
            static_cast<std::int64_t>(state_.movable_on(p).size() * state_.movable_on(q).size());
      }
    }
    if (best.a < 0 || !is_worth_it(best.score)) return false;
    const std::int32_t p = state_.node_of(best.a);
    const std::int32_t q = state_.node_of(best.b);
    const bool a_first = state_.score_of_move(best.a, q) != BalanceState::kImpossible;
    make(a_first ? best.a : best.b, a_first ? q : p, true);
    make(a_first ? best.b : best.a, a_first ? p : q, true);
    return true;
  }
  [[nodiscard]] bool has_order(std::int32_t a, std::int32_t b) const {
    return state_.score_of_move(a, state_.node_of(b)) != BalanceState::kImpossible ||
           state_.score_of_move(b, state_.node_of(a)) != BalanceState::kImpossible;
  }

  void make(std::int32_t instance, std::int32_t to, bool is_swap) {
    const std::int32_t from = state_.node_of(instance);
    state_.move(instance, to);
    moves_.push_back({instance, from, to, state_.total(), is_swap});
    if (options_.on_step) options_.on_step(moves_.size(), state_.total());
  }

  const BalanceOptions& options_;
  const std::vector<std::int32_t>& nodes_;
  BalanceState state_;
  std::size_t first_circle_ = 0;
  std::int64_t left_;
  std::int64_t candidates_ = 0;
  std::vector<Move> moves_;
  std::vector<std::pair<double, std::int32_t>> hot_;
  std::vector<std::pair<double, std::int32_t>> cold_;
};

// Where the moves leave the memory and disk numbers of the nodes, so that the file can be written
// back.
void carry_out(Cluster& cluster, const std::vector<Move>& moves) {
  for (const Move& move : moves) {
    Instance& instance = cluster.instances[static_cast<std::size_t>(move.instance)];
    instance.primary = move.to;
    if (!uses_memory(instance)) continue;
    cluster.nodes[static_cast<std::size_t>(move.from)].free_memory += instance.memory;
    cluster.nodes[static_cast<std::size_t>(move.to)].free_memory -= instance.memory;
  }
}

}  // namespace

Result<BalanceResult> balance(Cluster cluster, const BalanceOptions& options) {
  FDBPACK_TRY(const std::vector<std::int32_t> nodes, nodes_of_group(cluster, options.group));
  const ScoreOptions score_options{options.ignore_dynu};
  BalanceResult result;
  result.initial = score(cluster, nodes, score_options);
  for (const Instance& instance : cluster.instances) {
    const bool is_here = std::binary_search(nodes.begin(), nodes.end(), instance.primary);
    if (is_here && instance.disk_template == Template::drbd) ++result.mirrored;
  }
  Balancer balancer(cluster, nodes, options);
  balancer.run();
  result.moves = std::move(balancer.moves());
  result.candidates = balancer.candidates();
  carry_out(cluster, result.moves);
  result.final = score(cluster, nodes, score_options);
  result.cluster = std::move(cluster);
  return result;
}

}  // namespace fdbpack::place::htools
