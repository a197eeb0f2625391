// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/place/rebalance.hpp"

#include "fdbpack/place/ids.hpp"
#include "fdbpack/place/plan.hpp"
#include "rebalance_merge.hpp"
#include "rebalance_state.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace fdbpack::place {
namespace {

// How many of the hottest and coldest hosts are looked at: few first, more when there is nothing
// among them. Up to kExhaustive hosts all are, so nothing is missed; beyond, no more than
// kLastCircle, so that a step costs the same on any number of hosts. Where the search ends depends
// on the fleet alone and not on what was looked at before: run again, it finds nothing.
constexpr std::size_t kFirstCircle = 16;
constexpr std::size_t kLastCircle = 64;
constexpr std::size_t kExhaustive = 128;
constexpr int kRoundsMax = 8;
// A backstop far above what any fleet was seen to need.
constexpr std::size_t kStepsPerGroup = 10;

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
      : planner_(planner), options_(options), start_(planner.mark()) {
    state_.emplace(planner);
  }

  Rebalance run() {
    out_.before = measure(planner_.state());
    measured_ = out_.before.score();
    for (const ClusterDemand& cluster : planner_.state().inventory().clusters()) {
      if (!cluster.is_healthy) out_.unhealthy.push_back(cluster.name);
    }
    // Merged moves leave some of a budget, and other port slots taken than before: so it goes on
    // from there, until nothing more is found.
    for (int round = 0; round < kRoundsMax; ++round) {
      const std::size_t before = out_.moves.size();
      settle();
      if (round > 0 && out_.moves.size() == before) break;
      const auto merged = merge_moves(planner_.state(), made_);
      if (!merged) break;
      if (!make_again(*merged)) break;
    }
    out_.after = measure(planner_.state());
    return std::move(out_);
  }

 private:
  // The sums of deviations drift by rounding as groups move; the last word is with fresh ones, so
  // that a later run, which starts from such, agrees that nothing is left.
  void settle() {
    out_.is_budget_spent = false;
    std::size_t settled = SIZE_MAX;
    while (settled != out_.moves.size()) {
      settled = out_.moves.size();
      improve();
      state_.emplace(planner_);
      is_sorted_ = false;
    }
  }

  void start_over() {
    planner_.rollback(start_);
    state_.emplace(planner_);
    is_sorted_ = false;
    ids_.clear();
    forbidden_.clear();
    made_.clear();
    out_.moves.clear();
    out_.data_mib = 0;
    measured_ = out_.before.score();
  }

  [[nodiscard]] bool can_make(const MoveStep& step) const {
    const bool has_partner =
        step.size() == 2 && group(step[0].group).scope == group(step[1].group).scope;
    return std::all_of(step.begin(), step.end(), [&](const MovedGroup& move) {
      return state_->can_move(move.group, move.decision, has_partner);
    });
  }

  // Carries the steps out from the beginning, each as soon as there is room for it. Returns false,
  // with everything as it was, when there is a step that never has.
  bool make_again(std::vector<MoveStep> steps) {
    const Rebalance found = out_;
    const std::vector<MoveStep> made = made_;
    start_over();
    while (!steps.empty()) {
      std::vector<MoveStep> later;
      for (MoveStep& step : steps) {
        if (!can_make(step)) {
          later.push_back(std::move(step));
          continue;
        }
        std::vector<Relocation> moves;
        for (const MovedGroup& move : step)
          moves.push_back({move.group, move.decision.host, "", &move.decision});
        carry_out(std::move(moves));
      }
      if (later.size() == steps.size()) break;
      steps = std::move(later);
    }
    if (steps.empty()) return true;
    start_over();
    for (const MoveStep& step : made) {
      for (MovedGroup move : step)
        planner_.accept(move.decision);
      for (const MovedGroup& move : step)
        planner_.take_out(move.group);
    }
    state_.emplace(planner_);
    out_ = found;
    out_.has_second_moves = true;
    return false;
  }

  void improve() {
    while (has_moves_left(1) && has_steps_left()) {
      if (const std::optional<Step> step = best_move()) {
        make(*step);
      } else if (const std::optional<Step> swap = best_swap()) {
        make(*swap);
      } else {
        break;
      }
    }
  }
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
  // Every step makes something better, so they end by themselves; should one ever not, they end all
  // the same.
  bool has_steps_left() {
    const bool is_left =
        steps_++ < kStepsPerGroup * (planner_.state().inventory().groups().size() + 1);
    out_.is_budget_spent = out_.is_budget_spent || !is_left;
    return is_left;
  }
  [[nodiscard]] bool is_forbidden(Index a, Index to, Index b) const {
    return !forbidden_.empty() && forbidden_.contains({a, to, b});
  }
  bool has_data_left(std::int64_t mib) {
    const bool is_left = options_.data_mib_max < 0 || out_.data_mib + mib <= options_.data_mib_max;
    out_.is_budget_spent = out_.is_budget_spent || !is_left;
    return is_left;
  }

  // What the step is worth, or nothing when it is not worth its price.
  [[nodiscard]] std::optional<double> worth(const Change& change, std::int64_t mib) const {
    const double price = options_.price_per_gib * static_cast<double>(mib) / 1024.0;
    const double gain = state_->score() - change.score - price;
    const bool is_better = change.violations < 0 || change.spread < 0;
    if (!is_better && gain < options_.gain_min) return std::nullopt;
    return gain;
  }
  static bool is_preferred(const Step& a, const Step& b) {
    return std::tuple(a.change.violations, a.change.spread, -a.worth) <
           std::tuple(b.change.violations, b.change.spread, -b.worth);
  }

  void sort_by_heat() {
    hot_.clear();
    cold_.clear();
    std::vector<std::pair<double, Index>> all;
    for (std::size_t h = 0; h < planner_.state().hosts().size(); ++h) {
      all.emplace_back(state_->heat(static_cast<Index>(h)), static_cast<Index>(h));
    }
    std::sort(all.begin(), all.end());
    for (const auto& [heat, host] : all) {
      if (state_->is_counted(host)) cold_.push_back(host);
    }
    for (auto entry = all.rbegin(); entry != all.rend(); ++entry) {
      if (!state_->movable_on(entry->second).empty()) hot_.push_back(entry->second);
    }
    is_sorted_ = true;
  }

  // Circles around the hottest and coldest hosts, widened until something is found. The order is
  // made again only when nothing is left in the first circle of an old one.
  template <class Visit>
  std::optional<Step> search(const Visit& visit) {
    const std::size_t hosts = planner_.state().hosts().size();
    const std::size_t last = hosts <= kExhaustive ? hosts : kLastCircle;
    for (std::size_t circle = kFirstCircle;; circle *= 4) {
      std::optional<Step> best = look(circle, visit);
      if (!best && !is_sorted_) {
        sort_by_heat();
        best = look(circle, visit);
      }
      if (best || circle >= last) return best;
    }
  }

  template <class Visit>
  std::optional<Step> look(std::size_t circle, const Visit& visit) {
    std::optional<Step> best;
    for (std::size_t i = 0; i < std::min(circle, hot_.size()); ++i) {
      for (std::size_t j = 0; j < std::min(circle, cold_.size()); ++j) {
        if (hot_[i] != cold_[j]) visit(hot_[i], cold_[j], best);
      }
    }
    return best;
  }

  std::optional<Step> best_move() {
    return search([&](Index from, Index to, std::optional<Step>& best) {
      for (const Index g : state_->movable_on(from)) {
        const std::optional<Change> change = state_->try_move(g, to);
        if (!change || is_forbidden(g, to, kNone)) continue;
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
      for (const Index a : state_->movable_on(from)) {
        for (const Index b : state_->movable_on(to)) {
          const std::optional<Change> change = state_->try_swap(a, b);
          if (!change || is_forbidden(a, to, b)) continue;
          const std::int64_t mib = group(a).data_mib + group(b).data_mib;
          const std::optional<double> value = worth(*change, mib);
          if (!value || (best && best->worth >= *value) || !has_data_left(mib)) continue;
          best = Step{a, to, b, *change, *value};
        }
      }
    });
  }

  [[nodiscard]] static auto key(const MoveCandidate& candidate) {
    return std::tuple(candidate.terms.violations, candidate.terms.spread, candidate.terms.score,
                      candidate.host);
  }

  [[nodiscard]] MoveExplanation explain(Index g, Index to, bool is_swap) const {
    MoveExplanation out;
    out.want = state_->want_for(g);
    out.score = state_->score();
    for (std::size_t h = 0; h < planner_.state().hosts().size(); ++h) {
      const auto host = static_cast<Index>(h);
      if (host == group(g).host) continue;
      if (const std::optional<Refusal> refusal = state_->refusal(g, host)) {
        out.refused.push_back({host, *refusal});
        continue;
      }
      const Change change = state_->change_of(g, host);
      out.candidates.push_back({host, {change.violations, change.spread, change.score}});
    }
    // The target comes first: steps are compared over all groups, and a swap is one for two.
    std::sort(out.candidates.begin(), out.candidates.end(),
              [&](const MoveCandidate& a, const MoveCandidate& b) {
                if ((a.host == to) != (b.host == to)) return a.host == to;
                return key(a) < key(b);
              });
    out.deciding_term = "only";
    if (is_swap) out.deciding_term = "swap";
    if (is_swap || out.candidates.size() < 2) return out;
    const MoveTerms& first = out.candidates[0].terms;
    const MoveTerms& second = out.candidates[1].terms;
    out.deciding_term = first.violations != second.violations ? "violations"
                        : first.spread != second.spread       ? "spread"
                        : first.score != second.score         ? "score"
                                                              : "id";
    // Not the best for this group alone: on a large fleet not every pair of hosts is looked at, and
    // merged moves go where the plan as a whole needs them.
    if (key(out.candidates[1]) < key(out.candidates[0])) out.deciding_term = "search";
    return out;
  }

  // What is known of one half of a step before it is carried out.
  Replacement describe(Index g, Index to, bool is_swap) {
    const PlacedGroup& old = group(g);
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
    if (options_.has_explanations) move.explanation = explain(g, to, move.is_swap);
    return move;
  }

  // One that is made for the score alone must lower it, counted afresh; else it is undone and not
  // tried again.
  void make(const Step& step) {
    std::vector<Relocation> moves{{step.a, step.to}};
    if (step.b != kNone) moves.push_back({step.b, group(step.a).host});
    const std::size_t mark = planner_.mark();
    const double before = measured_;
    carry_out(std::move(moves));
    if (why(step.change) != "score" || measured_ < before) return;
    planner_.rollback(mark);
    state_.emplace(planner_);
    measured_ = before;
    forbidden_.emplace(step.a, step.to, step.b);
    for (std::size_t i = 0; i < made_.back().size(); ++i) {
      out_.data_mib -= out_.moves.back().data_mib;
      out_.moves.pop_back();
    }
    made_.pop_back();
  }

  // Carries out one move, or the two of a swap.
  void carry_out(std::vector<Relocation> moves) {
    Change change = state_->change_of(moves[0].group, moves[0].to);
    if (moves.size() == 2) {
      const Change other = state_->change_of(moves[1].group, moves[1].to);
      const bool is_within = group(moves[0].group).scope == group(moves[1].group).scope;
      change.violations = is_within ? 0 : change.violations + other.violations;
      change.spread = is_within ? 0 : change.spread + other.spread;
    }
    std::vector<Replacement> described;
    for (Relocation& move : moves) {
      described.push_back(describe(move.group, move.to, moves.size() == 2));
      move.id = described.back().new_id;
    }
    const std::vector<Decision> decisions = state_->make(moves);
    is_sorted_ = false;
    const double score = measure(planner_.state()).score();
    // In a merged plan a step may be there for the sake of those after it.
    std::string reason = why(change);
    if (reason == "score" && score >= measured_) reason = "plan";
    measured_ = score;
    MoveStep made;
    for (std::size_t i = 0; i < described.size(); ++i) {
      Replacement& move = described[i];
      move.explanation.want = decisions[i].want;
      move.group = to_group(planner_.state(), decisions[i]);
      move.score = score;
      move.why = reason;
      out_.data_mib += move.data_mib;
      out_.moves.push_back(std::move(move));
      made.push_back({moves[i].group, decisions[i].group, decisions[i]});
    }
    made_.push_back(std::move(made));
    if (options_.on_step) options_.on_step(out_.moves.size(), score);
  }

  Planner& planner_;
  const RebalanceOptions& options_;
  std::size_t start_;
  std::optional<RebalanceState> state_;
  std::vector<MoveStep> made_;
  std::vector<Index> hot_;  // as of the last sort_by_heat()
  std::vector<Index> cold_;
  bool is_sorted_ = false;
  std::map<Index, IdSource> ids_;
  double measured_ = 0;    // the score, counted afresh after the last step
  std::size_t steps_ = 0;  // tried, those that were undone too
  std::set<std::tuple<Index, Index, Index>> forbidden_;  // a, to, b of a Step that was undone
  Rebalance out_;
};

}  // namespace

Rebalance rebalance(Planner& planner, const RebalanceOptions& options) {
  return Rebalancer(planner, options).run();
}

}  // namespace fdbpack::place
