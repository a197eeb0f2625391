// SPDX-License-Identifier: Apache-2.0
//
// Decides where process groups go, one after the other, on a working copy of the fleet.
//
//   Want ──decide()──► Decision ──accept()──► the working copy has the group
//     └────explain()─► Explanation: every host's verdict, the winner's terms, the runner-up
//
// decide() and explain() choose the same host: the first looks only where the winner can be, the
// second at every host. Same inventory, wants and seed, same answer. Ties go to the lowest ID, or
// with a seed to the host that the seed puts first.
#pragma once

#include "fdbpack/place/constraint.hpp"
#include "fdbpack/place/explanation.hpp"
#include "fdbpack/place/inventory.hpp"
#include "fdbpack/place/state.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fdbpack::place {

class CandidateIndex;

struct Decision {
  Want want;
  Index host = kNone;
  int domain = kNone;  // kNone when logical domains are off
  int slot = 0;
  std::vector<DiskAt> disks;
  ConstraintSet breached;  // relaxed rules and preferences that do not hold
  int violations = 0;      // how many, a domain shared with two others counting twice
  Index group = kNone;     // index in the state, once accepted
};

class Planner {
 public:
  // With a seed, ties go to another host than the one of the lowest ID; same seed, same answer.
  explicit Planner(const Inventory& inventory, std::optional<std::uint64_t> seed = std::nullopt);
  ~Planner();
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  [[nodiscard]] const PlacementState& state() const { return state_; }

  // Nothing when no host can take the group; explain() says why.
  [[nodiscard]] std::optional<Decision> decide(const Want& want);
  [[nodiscard]] Explanation explain(const Want& want);
  // The same for a decision that was made already, on the state it was made on.
  [[nodiscard]] Explanation explain(const Want& want,
                                    const std::optional<Decision>& decision) const;

  // `host` passed judge(): the units and the port slot the group gets there.
  [[nodiscard]] Decision make_decision(const Want& want, int domain, Index host) const;
  Index accept(Decision& decision);  // the new group's index
  void take_out(Index group);
  void mark_removing(Index group);
  void close(Index host);  // takes nothing new from now on

  // Everything since mark() is undone by rollback().
  [[nodiscard]] std::size_t mark() const { return journal_.size(); }
  void rollback(std::size_t mark);

  // The order in which logical domains are tried: least full first, none that is full.
  [[nodiscard]] std::vector<int> domain_order(Index scope) const;
  // The same for one want: the domain it asks for, {kNone} when logical domains are off.
  [[nodiscard]] std::vector<int> domain_order(const Want& want) const;

 private:
  enum class Act { added, taken_out, marked, closed };
  struct Entry {
    Act act = Act::added;
    Index subject = kNone;
  };

  [[nodiscard]] CandidateIndex& index_of(Index set);
  [[nodiscard]] std::optional<Decision> decide_slowly(const Want& want,
                                                      const std::vector<int>& domains);
  void refresh_after(Index group);
  void refresh_host(Index host);

  PlacementState state_;
  std::vector<std::unique_ptr<CandidateIndex>> indexes_;  // by set, made when first asked for
  std::vector<Entry> journal_;
};

}  // namespace fdbpack::place
