// SPDX-License-Identifier: Apache-2.0
//
// Proposes replacements that make a fleet more even, and what they cost. A proposal is carried out
// by replacing the group: a new one is placed, the data is copied, the old one is removed. So the
// target needs room while the old group is still there, and every step is priced by the data it
// copies.
//
// In this order a step must be better: fewer violations, more even spread, a lower score
// (metrics.hpp) by more than its price. Of the steps that are, the one that gains most for its
// price is taken, until none is left or the budget is spent. Run on its own result it proposes
// nothing, unless a budget ended it. Groups of a cluster whose database is not healthy stay.
#pragma once

#include "fdbpack/place/explanation.hpp"
#include "fdbpack/place/metrics.hpp"
#include "fdbpack/place/planner.hpp"

#include <functional>
#include <string>
#include <vector>

namespace fdbpack::place {

struct RebalanceOptions {
  int moves_max = -1;              // -1: as many as help
  std::int64_t data_mib_max = -1;  // -1: no limit
  double gain_min = 1e-4;          // of the score, for one step
  double price_per_gib = 1e-7;     // of the score
  bool has_swaps = true;
  bool has_explanations = false;  // every host is asked for every move
  // Called after every step, for somebody who waits: moves so far, and the score.
  std::function<void(std::size_t moves, double score)> on_step{};
};

// What a target of a move is compared by, most important first; smaller is better.
struct MoveTerms {
  int violations = 0;  // how many more than before
  int spread = 0;      // likewise
  double score = 0;    // of the fleet afterwards
};
struct MoveCandidate {
  Index host = kNone;
  MoveTerms terms;
};
// Why a group moves, and why there.
struct MoveExplanation {
  Want want;
  double score = 0;                       // of the fleet before
  std::vector<MoveCandidate> candidates;  // best first: the target, the runner-up, ...
  std::vector<RefusedHost> refused;       // by host ID, with the first rule that refused
  // "violations", "spread", "score" or "id": what set the target apart from the runner-up. "swap":
  // the target is where its partner of a swap was; "only": no other host could take it; "search":
  // another host would be better for this group alone.
  std::string deciding_term;
};

struct Replacement {
  std::string cluster;
  std::string id;  // replaced
  std::string new_id;
  std::string from;
  std::string to;
  std::int64_t data_mib = 0;
  double score = 0;      // of the fleet afterwards; of a swap, after both halves
  bool is_swap = false;  // one half of two groups that change places
  // violations, spread or score: what the step makes better; plan: only the steps together do
  std::string why;
  Group group;                  // the replacement
  MoveExplanation explanation;  // when asked for
};

struct Rebalance {
  Metrics before;
  Metrics after;
  std::vector<Replacement> moves;
  std::int64_t data_mib = 0;
  std::vector<std::string> unhealthy;  // clusters that were left alone
  bool is_budget_spent = false;
  // A group is moved twice, because no order of single moves has the room. Else each moves once.
  bool has_second_moves = false;
};
// `planner` has the moves made.
[[nodiscard]] Rebalance rebalance(Planner& planner, const RebalanceOptions& options);

// The fleet with the moves carried out, data and all.
[[nodiscard]] Fleet apply(const Fleet& fleet, const Rebalance& rebalance);
// One sentence a line; `refused_max` hosts are listed one by one.
[[nodiscard]] std::vector<std::string> explain_text(const PlacementState& state,
                                                    const Replacement& move,
                                                    std::size_t refused_max = SIZE_MAX);

}  // namespace fdbpack::place
