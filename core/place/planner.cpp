// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/place/planner.hpp"

#include "candidate_index.hpp"
#include "fdbpack/base/check.hpp"
#include "fdbpack/place/fault_domains.hpp"

#include <algorithm>

namespace fdbpack::place {
namespace {

std::size_t at(Index index) {
  return static_cast<std::size_t>(index);
}

bool is_better(const PlacementState& state, const Candidate& a, const Candidate& b) {
  return a.terms != b.terms ? a.terms < b.terms : state.rank(a.host) < state.rank(b.host);
}

}  // namespace

std::string deciding_term(const Terms& winner, const Terms& runner_up) {
  if (winner.violations != runner_up.violations) return "violations";
  if (winner.exact_shortfall != runner_up.exact_shortfall) return "exact_count";
  if (winner.spread != runner_up.spread) return "spread";
  if (winner.balance() == runner_up.balance()) return "id";
  // Of the two that are added up, the one that speaks more for the winner.
  const std::int64_t utilisation = runner_up.utilisation - winner.utilisation;
  const std::int64_t storage = runner_up.storage - winner.storage;
  return utilisation >= storage ? "utilisation" : "storage";
}

Planner::Planner(const Inventory& inventory, std::optional<std::uint64_t> seed)
    : state_(inventory), indexes_(inventory.sets().size()) {
  if (seed) state_.shuffle(*seed);
}
Planner::~Planner() = default;

CandidateIndex& Planner::index_of(Index set) {
  std::unique_ptr<CandidateIndex>& index = indexes_[at(set)];
  if (!index) index = std::make_unique<CandidateIndex>(state_, set);
  return *index;
}

std::vector<int> Planner::domain_order(Index scope) const {
  const Scope& demand = state_.inventory().scopes()[at(scope)];
  const ScopeState& now = state_.scopes()[at(scope)];
  if (demand.domains == 0) return {};
  // One more than there are is allowed for: a forecast goes beyond what the spec asks.
  const int max =
      domain_bounds(std::max(demand.desired_groups, now.groups + 1), demand.domains).max;
  std::vector<int> order;
  for (int k = 0; k < demand.domains; ++k) {
    if (now.counts[at(k)] < max) order.push_back(k);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return now.counts[at(a)] < now.counts[at(b)]; });
  return order;
}

std::vector<int> Planner::domain_order(const Want& want) const {
  const Index scope = state_.inventory().sets()[at(want.set)].scope;
  if (want.domain != kNone || state_.inventory().scopes()[at(scope)].domains == 0)
    return {want.domain};
  std::vector<int> order = domain_order(scope);
  std::erase(order, want.leaves);
  return order;
}

std::optional<Decision> Planner::decide(const Want& want) {
  const Index scope = state_.inventory().sets()[at(want.set)].scope;
  const bool has_domains = state_.inventory().scopes()[at(scope)].domains > 0;
  const std::vector<int> domains = domain_order(want);
  if (want.relaxed.empty() && want.avoid.empty()) {
    CandidateIndex& index = index_of(want.set);
    for (const int domain : domains) {
      const Index host = index.best(state_, domain);
      if (host != kNone) return make_decision(want, domain, host);
    }
    // Without a preference that may be broken there is nothing more to find.
    if (!has_domains || state_.inventory().scopes()[at(scope)].is_required) return std::nullopt;
  }
  return decide_slowly(want, domains);
}

std::optional<Decision> Planner::decide_slowly(const Want& want, const std::vector<int>& domains) {
  std::optional<Candidate> best;
  int best_domain = kNone;
  for (const int domain : domains) {
    for (std::size_t h = 0; h < state_.hosts().size(); ++h) {
      const Verdict verdict = judge(state_, want, domain, static_cast<Index>(h));
      if (verdict.refusal) continue;
      const Candidate candidate{static_cast<Index>(h), verdict.terms, verdict.breached};
      const bool wins =
          !best || (best_domain == domain ? is_better(state_, candidate, *best)
                                          : candidate.terms.violations < best->terms.violations);
      if (!wins) continue;
      best = candidate;
      best_domain = domain;
    }
    // The least full domain is kept unless another one breaks fewer rules.
    if (best && best->terms.violations == 0) break;
  }
  if (!best) return std::nullopt;
  Decision decision = make_decision(want, best_domain, best->host);
  decision.breached = best->breached;
  decision.violations = best->terms.violations;
  return decision;
}

Decision Planner::make_decision(const Want& want, int domain, Index host) const {
  Decision decision;
  decision.want = want;
  decision.host = host;
  decision.domain = domain;
  const Shape& shape = state_.inventory().sets()[at(want.set)].demand->shape;
  decision.slot = state_.free_slot(host, shape.servers);
  auto disks = choose_units(state_, want.set, host);
  FDBPACK_CHECK(disks && decision.slot != kNone);
  decision.disks = *std::move(disks);
  return decision;
}

Explanation Planner::explain(const Want& want) {
  return explain(want, decide(want));
}

Explanation Planner::explain(const Want& want, const std::optional<Decision>& decision) const {
  const Index scope = state_.inventory().sets()[at(want.set)].scope;
  const Scope& demand = state_.inventory().scopes()[at(scope)];
  Explanation out;
  out.want = want;
  out.domain_counts = state_.scopes()[at(scope)].counts;
  if (decision) out.winner = decision->host;
  if (demand.domains > 0) {
    const DomainBounds bounds = domain_bounds(
        std::max(demand.desired_groups, state_.scopes()[at(scope)].groups + 1), demand.domains);
    out.domain_min = bounds.min;
    out.domain_max = bounds.max;
    const std::vector<int> order = domain_order(want);
    out.domain = decision ? decision->domain : (order.empty() ? kNone : order.front());
    for (const int domain : order) {
      if (!decision || domain == decision->domain) break;
      out.domains_skipped.push_back(domain);
    }
  }
  for (std::size_t h = 0; h < state_.hosts().size(); ++h) {
    const Verdict verdict = judge(state_, want, out.domain, static_cast<Index>(h));
    if (verdict.refusal) {
      out.refused.push_back({static_cast<Index>(h), *verdict.refusal});
    } else {
      out.candidates.push_back({static_cast<Index>(h), verdict.terms, verdict.breached});
    }
  }
  std::sort(out.candidates.begin(), out.candidates.end(),
            [&](const Candidate& a, const Candidate& b) { return is_better(state_, a, b); });
  const auto winner = std::find_if(out.candidates.begin(), out.candidates.end(),
                                   [&](const Candidate& c) { return c.host == out.winner; });
  FDBPACK_CHECK(out.winner == kNone || winner != out.candidates.end());
  if (out.winner != kNone && winner != out.candidates.begin()) {
    std::rotate(out.candidates.begin(), winner, winner + 1);
    out.deciding_term = "search";
  } else if (out.candidates.size() > 1) {
    out.deciding_term = deciding_term(out.candidates[0].terms, out.candidates[1].terms);
    if (out.deciding_term == "id" && state_.is_shuffled()) out.deciding_term = "seed";
  }
  return out;
}

Index Planner::accept(Decision& decision) {
  const SetRef& ref = state_.inventory().sets()[at(decision.want.set)];
  PlacedGroup group;
  group.id = decision.want.id;
  group.host = decision.host;
  group.scope = ref.scope;
  group.set = decision.want.set;
  group.domain =
      decision.domain != kNone ? decision.domain : state_.own_zone(ref.scope, decision.host);
  group.cpu_milli = ref.demand->shape.cpu_milli;
  group.memory_mib = ref.demand->shape.memory_mib;
  group.servers = ref.demand->shape.servers;
  group.slot = decision.slot;
  group.disks = decision.disks;
  if (decision.want.replaces != kNone)
    group.data_mib = state_.groups()[at(decision.want.replaces)].data_mib;
  decision.group = state_.add(std::move(group));
  journal_.push_back({Act::added, decision.group});
  refresh_after(decision.group);
  return decision.group;
}

void Planner::take_out(Index group) {
  state_.take_out(group);
  journal_.push_back({Act::taken_out, group});
  refresh_after(group);
}

void Planner::mark_removing(Index group) {
  if (state_.groups()[at(group)].is_removing) return;
  state_.mark_removing(group, true);
  journal_.push_back({Act::marked, group});
}

void Planner::close(Index host) {
  if (state_.hosts()[at(host)].is_closed) return;
  state_.set_closed(host, true);
  journal_.push_back({Act::closed, host});
  refresh_host(host);
}

void Planner::rollback(std::size_t mark) {
  // To judge every host anew once is cheaper than to follow the undoing of many groups.
  if (journal_.size() - mark > state_.hosts().size()) {
    for (auto& index : indexes_)
      index.reset();
  }
  while (journal_.size() > mark) {
    const Entry entry = journal_.back();
    journal_.pop_back();
    switch (entry.act) {
      case Act::added:
        state_.take_out(entry.subject);
        refresh_after(entry.subject);
        state_.drop_last();
        break;
      case Act::taken_out:
        state_.put_back(entry.subject);
        refresh_after(entry.subject);
        break;
      case Act::marked:
        state_.mark_removing(entry.subject, false);
        break;
      case Act::closed:
        state_.set_closed(entry.subject, false);
        refresh_host(entry.subject);
        break;
    }
  }
}

void Planner::refresh_host(Index host) {
  for (const auto& index : indexes_) {
    if (index) index->refresh(state_, host);
  }
}

// The group's host has another amount of room; its physical domain may carry other domains than
// before.
void Planner::refresh_after(Index group) {
  const PlacedGroup& placed = state_.groups()[at(group)];
  const Index physical = state_.physical_of(placed.scope, placed.host);
  for (const auto& index : indexes_) {
    if (index && index->scope() == placed.scope && physical != kNone) {
      index->refresh_physical(state_, physical);
    }
    if (index) index->refresh(state_, placed.host);
  }
}

}  // namespace fdbpack::place
