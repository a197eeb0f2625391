// SPDX-License-Identifier: Apache-2.0
//
// Why a group goes where it goes. Numbers first; explain.hpp turns them into prose, wire/ into
// JSON.
//
//   domain counts ─► chosen domain ─► winner and its terms ─► runner-up and the term that decided
//                                  └► for each refused host the first constraint that refused it
#pragma once

#include "fdbpack/place/constraint.hpp"

#include <string>
#include <vector>

namespace fdbpack::place {

struct Candidate {
  Index host = kNone;
  Terms terms;
  ConstraintSet breached;
};

struct RefusedHost {
  Index host = kNone;
  Refusal refusal;
};

struct Explanation {
  Want want;
  int domain = kNone;  // the one the verdicts are for; kNone when logical domains are off
  std::vector<int> domain_counts;  // groups per logical domain before the decision
  int domain_min = 0;
  int domain_max = 0;
  std::vector<int> domains_skipped;   // less full, but no host could take the group there
  Index winner = kNone;               // kNone: no host can take the group
  std::vector<Candidate> candidates;  // best first; the second is the runner-up
  std::vector<RefusedHost> refused;   // by host ID
  std::string deciding_term;          // what set the winner apart from the runner-up
};

// "violations", "exact_count", "spread", "utilisation", "storage", "id" or "seed": where two
// candidates differ first; of the two that are added up, the one that differs more. In an
// Explanation also "search": the best host for this group alone would have left another group
// without one.
[[nodiscard]] std::string deciding_term(const Terms& winner, const Terms& runner_up);

}  // namespace fdbpack::place
