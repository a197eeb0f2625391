// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/place/rebalance.hpp"

#include "fdbpack/place/ids.hpp"
#include "rebalance_state.hpp"

#include <algorithm>
#include <map>

namespace fdbpack::place {
namespace {

constexpr std::size_t kFirstCircle = 16;

std::size_t at(Index index) {
  return static_cast<std::size_t>(index);
}

struct Step {
  Index a = kNone;
  Index to = kNone;  // a host
  Index b = kNone;   // the other group of a swap
  Change change;
  double worth = 0;  // gain less price
};

class Rebalancer {
 public:
  Rebalancer(Planner& planner, const RebalanceOptions& options)
      : planner_(planner), options_(options), state_(planner), left_(options.candidates_max) {}

  Rebalance run() {
    out_.before = measure(planner_.state());
    for (const ClusterDemand& cluster : planner_.state().inventory().clusters()) {
      if (!cluster.is_healthy) out_.unhealthy.push_back(cluster.name);
    }
    while (has_moves_left(1)) {
      if (const std::optional<Step> step = best_move()) {
        make(step->a, step->to, false, why(step->change));
      } else if (const std::optional<Step> swap = best_swap()) {
        const Index host_a = group(swap->a).host;
        const Index host_b = group(swap->b).host;
        make(swap->a, host_b, true, why(swap->change));
        make(swap->b, host_a, true, why(swap->change));
      } else {
        break;
      }
    }
    out_.after = measure(planner_.state());
    return std::move(out_);
  }

 private:
  [[nodiscard]] const PlacedGroup& group(Index g) const { return planner_.state().groups()[at(g)]; }
  static std::string why(const Change& change) {
    return change.violations < 0 ? "violations" : change.spread < 0 ? "spread" : "score";
  }
  bool has_moves_left(int count) {
    const bool is_left =
        options_.moves_max < 0 || static_cast<int>(out_.moves.size()) + count <= options_.moves_max;
    out_.is_budget_spent = out_.is_budget_spent || !is_left;
    return is_left;
  }
  bool has_data_left(std::int64_t mib) {
    const bool is_left = options_.data_mib_max < 0 || out_.data_mib + mib <= options_.data_mib_max;
    out_.is_budget_spent = out_.is_budget_spent || !is_left;
    return is_left;
  }

  // What the step is worth, or nothing when it is not worth its price.
  [[nodiscard]] std::optional<double> worth(const Change& change, std::int64_t mib) const {
    const double price = options_.price_per_gib * static_cast<double>(mib) / 1024.0;
    const double gain = state_.score() - change.score - price;
    const bool is_better = change.violations < 0 || change.spread < 0;
    if (!is_better && gain < options_.gain_min) return std::nullopt;
    return gain;
  }
  static bool is_preferred(const Step& a, const Step& b) {
    return std::tuple(a.change.violations, a.change.spread, -a.worth) <
           std::tuple(b.change.violations, b.change.spread, -b.worth);
  }

  void sort_by_heat(std::vector<Index>& hot, std::vector<Index>& cold) const {
    std::vector<std::pair<double, Index>> all;
    for (std::size_t h = 0; h < planner_.state().hosts().size(); ++h) {
      all.emplace_back(state_.heat(static_cast<Index>(h)), static_cast<Index>(h));
    }
    std::sort(all.begin(), all.end());
    for (const auto& [heat, host] : all) {
      if (state_.is_counted(host)) cold.push_back(host);
    }
    for (auto entry = all.rbegin(); entry != all.rend(); ++entry) {
      if (!state_.movable_on(entry->second).empty()) hot.push_back(entry->second);
    }
  }

  // Circles around the hottest and coldest hosts, widened until something is found or all was seen.
  template <class Visit>
  std::optional<Step> search(const Visit& visit) {
    std::vector<Index> hot;
    std::vector<Index> cold;
    sort_by_heat(hot, cold);
    for (std::size_t circle = kFirstCircle;; circle *= 4) {
      std::optional<Step> best;
      for (std::size_t i = 0; i < std::min(circle, hot.size()); ++i) {
        for (std::size_t j = 0; j < std::min(circle, cold.size()); ++j) {
          if (hot[i] != cold[j]) visit(hot[i], cold[j], best);
        }
      }
      if (best) return best;
      if ((circle >= hot.size() && circle >= cold.size()) || left_ < 0) return std::nullopt;
    }
  }

  std::optional<Step> best_move() {
    return search([&](Index from, Index to, std::optional<Step>& best) {
      for (const Index g : state_.movable_on(from)) {
        --left_;
        const std::optional<Change> change = state_.try_move(g, to);
        if (!change) continue;
        const std::optional<double> value = worth(*change, group(g).data_mib);
        if (!value) continue;
        const Step step{g, to, kNone, *change, *value};
        if (best && !is_preferred(step, *best)) continue;
        if (!has_data_left(group(g).data_mib)) continue;
        best = step;
      }
    });
  }

  std::optional<Step> best_swap() {
    if (!options_.has_swaps || !has_moves_left(2)) return std::nullopt;
    return search([&](Index from, Index to, std::optional<Step>& best) {
      for (const Index a : state_.movable_on(from)) {
        for (const Index b : state_.movable_on(to)) {
          --left_;
          const std::optional<Change> change = state_.try_swap(a, b);
          if (!change) continue;
          const std::int64_t mib = group(a).data_mib + group(b).data_mib;
          const std::optional<double> value = worth(*change, mib);
          if (!value || (best && best->worth >= *value) || !has_data_left(mib)) continue;
          best = Step{a, to, b, *change, *value};
        }
      }
    });
  }

  void make(Index g, Index to, bool is_swap, std::string reason) {
    const PlacedGroup old = group(g);
    const Inventory& inventory = planner_.state().inventory();
    IdSource& ids = ids_.try_emplace(old.scope, planner_.state(), old.scope).first->second;
    Replacement move;
    move.cluster = inventory.clusters()[at(inventory.scopes()[at(old.scope)].cluster)].name;
    move.id = old.id;
    move.new_id = ids.next();
    move.from = inventory.hosts()[at(old.host)].id;
    move.to = inventory.hosts()[at(to)].id;
    move.data_mib = old.data_mib;
    move.is_swap = is_swap;
    move.why = std::move(reason);
    state_.move(g, to, move.new_id);
    move.score = state_.score();
    out_.data_mib += old.data_mib;
    out_.moves.push_back(std::move(move));
  }

  Planner& planner_;
  const RebalanceOptions& options_;
  RebalanceState state_;
  std::int64_t left_;
  std::map<Index, IdSource> ids_;
  Rebalance out_;
};

}  // namespace

Rebalance rebalance(Planner& planner, const RebalanceOptions& options) {
  return Rebalancer(planner, options).run();
}

}  // namespace fdbpack::place
