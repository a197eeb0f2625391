// SPDX-License-Identifier: Apache-2.0
#include "search.hpp"

#include "fdbpack/place/fault_domains.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace fdbpack::place {
namespace {

std::size_t at(Index index) {
  return static_cast<std::size_t>(index);
}

Index scope_of(const Planner& planner, const Want& want) {
  return planner.state().inventory().sets()[at(want.set)].scope;
}

int below_minimum(const Planner& planner, const std::vector<Want>& wants) {
  std::set<Index> scopes;
  for (const Want& want : wants)
    scopes.insert(scope_of(planner, want));
  int sum = 0;
  for (const Index s : scopes) {
    const Scope& scope = planner.state().inventory().scopes()[at(s)];
    const ScopeState& now = planner.state().scopes()[at(s)];
    if (scope.domains == 0) continue;
    const int min = domain_bounds(std::min(scope.desired_groups, now.groups), scope.domains).min;
    for (const int count : now.counts)
      sum += std::max(0, min - count);
  }
  return sum;
}

class Search {
 public:
  Search(Planner& planner, const std::vector<Want>& wants, Choice start, int budget)
      : planner_(planner), wants_(wants), best_(std::move(start)), budget_(budget) {
    current_.decisions.resize(wants.size());
  }

  Choice run() {
    descend(0);
    return std::move(best_);
  }

 private:
  struct Option {
    int domain = kNone;
    std::size_t rank = 0;  // position in the order of domains
    Candidate candidate;
  };

  std::vector<Option> options(const Want& want) {
    const std::vector<int> domains = planner_.domain_order(want);
    std::vector<Option> out;
    for (std::size_t rank = 0; rank < domains.size(); ++rank) {
      for (std::size_t h = 0; h < planner_.state().hosts().size(); ++h) {
        const Verdict verdict = judge(planner_.state(), want, domains[rank], static_cast<Index>(h));
        --budget_;
        if (verdict.refusal) continue;
        out.push_back(
            {domains[rank], rank, {static_cast<Index>(h), verdict.terms, verdict.breached}});
      }
    }
    std::sort(out.begin(), out.end(), [&](const Option& a, const Option& b) {
      const auto key = [&](const Option& o) {
        return std::tuple(o.candidate.terms.violations, o.rank, o.candidate.terms,
                          planner_.state().rank(o.candidate.host));
      };
      return key(a) < key(b);
    });
    return out;
  }

  void descend(std::size_t depth) {
    if (budget_ < 0 || best_.fault == Fault{}) return;
    if (std::tuple(current_.fault.unplaced, current_.fault.violations) >
        std::tuple(best_.fault.unplaced, best_.fault.violations)) {
      return;
    }
    if (depth == wants_.size()) {
      current_.fault.below_minimum = below_minimum(planner_, wants_);
      if (current_.fault < best_.fault) best_ = current_;
      return;
    }
    const Want& want = wants_[depth];
    for (const Option& option : options(want)) {
      const std::size_t mark = planner_.mark();
      Decision decision = planner_.make_decision(want, option.domain, option.candidate.host);
      decision.breached = option.candidate.breached;
      decision.violations = option.candidate.terms.violations;
      const Fault before = current_.fault;
      current_.fault.violations += option.candidate.terms.violations;
      planner_.accept(decision);
      current_.decisions[depth] = std::move(decision);
      descend(depth + 1);
      planner_.rollback(mark);
      current_.fault = before;
      if (budget_ < 0) return;
    }
    ++current_.fault.unplaced;
    current_.decisions[depth].reset();
    descend(depth + 1);
    --current_.fault.unplaced;
  }

  Planner& planner_;
  const std::vector<Want>& wants_;
  Choice best_;
  Choice current_;
  int budget_;
};

}  // namespace

Choice choose_greedily(Planner& planner, const std::vector<Want>& wants) {
  Choice out;
  const std::size_t mark = planner.mark();
  for (const Want& want : wants) {
    std::optional<Decision> decision = planner.decide(want);
    if (decision) {
      out.fault.violations += decision->violations;
      planner.accept(*decision);
    } else {
      ++out.fault.unplaced;
    }
    out.decisions.push_back(std::move(decision));
  }
  out.fault.below_minimum = below_minimum(planner, wants);
  planner.rollback(mark);
  return out;
}

Choice search(Planner& planner, const std::vector<Want>& wants, Choice start, int budget) {
  return Search(planner, wants, std::move(start), budget).run();
}

void sort_by_pickiness(const PlacementState& state, std::vector<Want>& wants) {
  const auto key = [&](const Want& want) {
    std::int64_t disk = 0;
    for (const WishedDisk& wish : state.sets()[at(want.set)].disks)
      disk += wish.size_mib;
    return std::tuple(state.sets()[at(want.set)].eligible_hosts, -disk, want.set);
  };
  std::stable_sort(wants.begin(), wants.end(),
                   [&](const Want& a, const Want& b) { return key(a) < key(b); });
}

Choice choose(Planner& planner, std::vector<Want>& wants, int budget) {
  Choice choice = choose_greedily(planner, wants);
  if (choice.fault == Fault{}) return choice;
  // A group that nobody can take even now is not the order's fault; it would only waste the search.
  std::vector<Want> possible;
  std::vector<Want> hopeless;
  for (const Want& want : wants)
    (planner.decide(want) ? possible : hopeless).push_back(want);
  if (!hopeless.empty()) choice = choose_greedily(planner, possible);
  if (choice.fault != Fault{}) choice = search(planner, possible, std::move(choice), budget);
  choice.decisions.resize(wants.size());
  choice.fault.unplaced += static_cast<int>(hopeless.size());
  possible.insert(possible.end(), hopeless.begin(), hopeless.end());
  wants = std::move(possible);
  return choice;
}

void carry_out(Planner& planner, const Want& want, std::optional<Decision> decision,
               bool has_explanation, std::vector<NewGroup>& placed,
               std::vector<Unplaced>& unplaced) {
  const Inventory& inventory = planner.state().inventory();
  const std::string replaces =
      want.replaces == kNone ? std::string() : planner.state().groups()[at(want.replaces)].id;
  Explanation why;
  if (has_explanation || !decision) why = planner.explain(want, decision);
  if (!decision) {
    const SetRef& ref = inventory.sets()[at(want.set)];
    const Scope& scope = inventory.scopes()[at(ref.scope)];
    unplaced.push_back({inventory.clusters()[at(scope.cluster)].name, scope.class_name,
                        ref.demand->name, want.id, replaces, "", std::move(why)});
    return;
  }
  NewGroup group;
  planner.accept(*decision);
  group.group = to_group(planner.state(), *decision);
  group.replaces = replaces;
  for (std::size_t i = 0; i < kConstraintCount; ++i) {
    const auto constraint = static_cast<Constraint>(i);
    if (decision->breached.contains(constraint)) group.breached.push_back(constraint);
  }
  group.why = std::move(why);
  placed.push_back(std::move(group));
}

}  // namespace fdbpack::place
