// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/wire/place_json.hpp"

#include "fdbpack/place/explain.hpp"

namespace fdbpack::wire {
namespace {

using place::Candidate;
using place::Capacity;
using place::Constraint;
using place::Evacuation;
using place::Explanation;
using place::FleetPlan;
using place::Group;
using place::Index;
using place::kConstraintCount;
using place::kNone;
using place::Loss;
using place::Metrics;
using place::NamedTerm;
using place::NewGroup;
using place::PlacedDisk;
using place::PlacementState;
using place::Rebalance;
using place::RefusedHost;
using place::Removal;
using place::Replacement;
using place::Stop;
using place::Stranded;
using place::Unplaced;
using place::Want;
using place::Wave;
namespace htools = place::htools;
using Object = JsonValue::Object;
using Array = JsonValue::Array;

std::size_t at(Index index) {
  return static_cast<std::size_t>(index);
}
JsonValue integer(std::int64_t value) {
  return JsonValue(value);
}
JsonValue text(std::string_view value) {
  return JsonValue(value);
}

JsonValue names(const std::vector<std::string>& list) {
  Array out;
  for (const std::string& name : list)
    out.emplace_back(name);
  return out;
}

JsonValue candidate_json(const PlacementState& state, const Candidate& candidate, bool has_exact) {
  Object terms;
  for (const NamedTerm& term : named_terms(candidate.terms, has_exact))
    terms.emplace_back(term.name, term.value);
  Array breached;
  for (std::size_t i = 0; i < kConstraintCount; ++i) {
    const auto constraint = static_cast<Constraint>(i);
    if (candidate.breached.contains(constraint)) breached.push_back(text(to_string(constraint)));
  }
  return Object{{"host", state.inventory().hosts()[at(candidate.host)].id},
                {"terms", std::move(terms)},
                {"doesNotHold", std::move(breached)}};
}

JsonValue domains_json(const PlacementState& state, const Explanation& why) {
  const Index scope = state.inventory().sets()[at(why.want.set)].scope;
  Object counts;
  for (std::size_t k = 0; k < why.domain_counts.size(); ++k) {
    counts.emplace_back(state.domain_text(scope, static_cast<int>(k)),
                        integer(why.domain_counts[k]));
  }
  Array skipped;
  for (const int domain : why.domains_skipped)
    skipped.emplace_back(state.domain_text(scope, domain));
  return Object{{"chosen", why.domain == kNone ? JsonValue()
                                               : JsonValue(state.domain_text(scope, why.domain))},
                {"groups", std::move(counts)},
                {"min", integer(why.domain_min)},
                {"max", integer(why.domain_max)},
                {"skipped", std::move(skipped)}};
}

JsonValue disks_json(const Group& group) {
  Array disks;
  for (const PlacedDisk& disk : group.disks) {
    disks.emplace_back(
        Object{{"storageUnit", Array{disk.unit.type, disk.unit.key, names(disk.unit.params)}},
               {"sizeMiB", integer(disk.size_mib)}});
  }
  return disks;
}

JsonValue refused_json(const PlacementState& state, const Want& want, int domain,
                       const std::vector<RefusedHost>& hosts) {
  Array refused;
  for (const RefusedHost& host : hosts) {
    refused.emplace_back(Object{{"host", state.inventory().hosts()[at(host.host)].id},
                                {"constraint", text(to_string(host.refusal.constraint))},
                                {"reason", reason(state, want, domain, host.host, host.refusal)}});
  }
  return refused;
}

JsonValue move_json(const PlacementState& state, const Replacement& move) {
  const place::MoveExplanation& why = move.explanation;
  const auto candidate = [&](std::size_t i) {
    if (i >= why.candidates.size()) return JsonValue();
    const place::MoveCandidate& one = why.candidates[i];
    return JsonValue(Object{{"host", state.inventory().hosts()[at(one.host)].id},
                            {"terms", Object{{"violations", integer(one.terms.violations)},
                                             {"spread", integer(one.terms.spread)},
                                             {"score", one.terms.score}}}});
  };
  return Object{{"scoreBefore", why.score},
                {"winner", candidate(0)},
                {"runnerUp", candidate(1)},
                {"decidedBy", why.deciding_term},
                {"candidates", integer(static_cast<std::int64_t>(why.candidates.size()))},
                {"refused", refused_json(state, why.want, why.want.domain, why.refused)},
                {"text", names(explain_text(state, move, 0))}};
}

JsonValue group_json(const PlacementState& state, const NewGroup& placed) {
  const Group& group = placed.group;
  Array breached;
  for (const Constraint constraint : placed.breached)
    breached.push_back(text(to_string(constraint)));
  Object out{{"cluster", group.cluster},
             {"id", group.id},
             {"processClass", group.process_class},
             {"set", group.set},
             {"host", group.host},
             {"faultDomain", group.fault_domain},
             {"serversPerDisk", integer(group.servers)},
             {"portSlot", integer(group.port_slot)},
             {"disks", disks_json(group)},
             {"replaces", placed.replaces.empty() ? JsonValue() : JsonValue(placed.replaces)},
             {"step", integer(placed.step)},
             {"doesNotHold", std::move(breached)}};
  if (placed.why.want.set != kNone) out.emplace_back("why", to_json(state, placed.why));
  return out;
}

JsonValue unplaced_json(const PlacementState& state, const Unplaced& missing) {
  return Object{{"cluster", missing.cluster},
                {"id", missing.id},
                {"processClass", missing.process_class},
                {"set", missing.set},
                {"replaces", missing.replaces.empty() ? JsonValue() : JsonValue(missing.replaces)},
                {"cause", missing.cause.empty() ? JsonValue() : JsonValue(missing.cause)},
                {"why", to_json(state, missing.why)}};
}

JsonValue removals_json(const std::vector<Removal>& list) {
  Array out;
  for (const Removal& removal : list) {
    out.emplace_back(
        Object{{"cluster", removal.cluster}, {"id", removal.id}, {"why", removal.why}});
  }
  return out;
}

JsonValue metrics_json(const Metrics& metrics) {
  return Object{{"violations", integer(metrics.violations)},
                {"cpu", metrics.cpu},
                {"memory", metrics.memory},
                {"storage", metrics.storage},
                {"score", metrics.score()}};
}

}  // namespace

JsonValue to_json(const PlacementState& state, const Explanation& why) {
  const bool has_exact = state.inventory().sets()[at(why.want.set)].demand->exact.has_value();
  const bool has_winner = why.winner != kNone;
  const bool has_second = why.candidates.size() > 1;
  return Object{
      {"faultDomain", why.domain_counts.empty() ? JsonValue() : domains_json(state, why)},
      {"winner", has_winner ? candidate_json(state, why.candidates[0], has_exact) : JsonValue()},
      {"runnerUp", has_second ? candidate_json(state, why.candidates[1], has_exact) : JsonValue()},
      {"decidedBy", why.deciding_term.empty() ? JsonValue() : JsonValue(why.deciding_term)},
      {"candidates", integer(static_cast<std::int64_t>(why.candidates.size()))},
      {"refused", refused_json(state, why.want, why.domain, why.refused)},
      {"text", names(explain_text(state, why, 0))}};
}

JsonValue to_json(const PlacementState& state, const FleetPlan& plan) {
  Array placed;
  for (const NewGroup& group : plan.placed)
    placed.push_back(group_json(state, group));
  Array unplaced;
  for (const Unplaced& missing : plan.unplaced)
    unplaced.push_back(unplaced_json(state, missing));
  Array violations;
  for (const std::vector<place::Violation>* list : {&plan.violations, &plan.unmet}) {
    for (const place::Violation& violation : *list) {
      violations.emplace_back(Object{{"rule", violation.rule},
                                     {"subject", violation.subject},
                                     {"message", violation.message}});
    }
  }
  return Object{{"placed", std::move(placed)},
                {"unplaced", std::move(unplaced)},
                {"replaced", removals_json(plan.replaced)},
                {"removed", removals_json(plan.removed)},
                {"violations", std::move(violations)},
                {"metrics", Object{{"before", metrics_json(plan.before)},
                                   {"after", metrics_json(plan.after)}}}};
}

JsonValue to_json(const PlacementState& state, const Evacuation& evacuation) {
  Array placed;
  for (const NewGroup& group : evacuation.placed)
    placed.push_back(group_json(state, group));
  Array unplaced;
  for (const Unplaced& missing : evacuation.unplaced)
    unplaced.push_back(unplaced_json(state, missing));
  return Object{{"hosts", names(evacuation.hosts)},
                {"complete", evacuation.unplaced.empty() && evacuation.stranded.empty()},
                {"dataMiB", integer(evacuation.data_mib)},
                {"placed", std::move(placed)},
                {"unplaced", std::move(unplaced)},
                {"stranded", names(evacuation.stranded)}};
}

JsonValue to_json(const PlacementState& state, const Rebalance& rebalance) {
  Array moves;
  for (const Replacement& move : rebalance.moves) {
    Object one{{"cluster", move.cluster},
               {"group", move.id},
               {"replacement", move.new_id},
               {"processClass", move.group.process_class},
               {"set", move.group.set},
               {"faultDomain", move.group.fault_domain},
               {"from", move.from},
               {"to", move.to},
               {"portSlot", integer(move.group.port_slot)},
               {"disks", disks_json(move.group)},
               {"dataMiB", integer(move.data_mib)},
               {"score", move.score},
               {"swap", move.is_swap},
               {"why", move.why}};
    if (!move.explanation.deciding_term.empty())
      one.emplace_back("explanation", move_json(state, move));
    moves.emplace_back(std::move(one));
  }
  return Object{{"initialScore", rebalance.before.score()},
                {"finalScore", rebalance.after.score()},
                {"moves", std::move(moves)},
                {"dataMiB", integer(rebalance.data_mib)},
                {"budgetSpent", rebalance.is_budget_spent},
                {"secondMoves", rebalance.has_second_moves},
                {"unhealthy", names(rebalance.unhealthy)},
                {"metrics", Object{{"before", metrics_json(rebalance.before)},
                                   {"after", metrics_json(rebalance.after)}}}};
}

JsonValue to_json(const htools::BalanceResult& result) {
  Array moves;
  for (const htools::Move& move : result.moves) {
    const auto node = [&](std::int32_t n) { return result.cluster.nodes[at(n)].name; };
    moves.emplace_back(Object{{"instance", result.cluster.instances[at(move.instance)].name},
                              {"from", node(move.from)},
                              {"to", node(move.to)},
                              {"score", move.score},
                              {"swap", move.is_swap}});
  }
  const auto metrics = [](const htools::Score& score) {
    Object out;
    for (std::size_t m = 0; m < htools::kMetricCount; ++m) {
      out.emplace_back(std::string(htools::kMetrics[m].name), score.metrics[m]);
    }
    return out;
  };
  return Object{
      {"initialScore", result.initial.overall()},
      {"finalScore", result.final.overall()},
      {"moves", std::move(moves)},
      {"mirroredInstancesLeftAlone", integer(result.mirrored)},
      {"metrics", Object{{"before", metrics(result.initial)}, {"after", metrics(result.final)}}}};
}

JsonValue to_json(const Capacity& capacity, const std::vector<Loss>& losses) {
  Object values;
  for (const auto& [value, count] : capacity.per_value)
    values.emplace_back(value, integer(count));
  Array stops;
  for (const Stop& stop : capacity.stops) {
    stops.emplace_back(
        Object{{"constraint", text(to_string(stop.constraint))}, {"hosts", integer(stop.hosts)}});
  }
  Array stranded;
  for (const Stranded& entry : capacity.stranded) {
    stranded.emplace_back(Object{{"resource", entry.resource},
                                 {"amount", integer(entry.amount)},
                                 {"hosts", integer(entry.hosts)}});
  }
  Array lost;
  bool survives = true;
  for (const Loss& loss : losses) {
    survives = survives && loss.unplaced == 0;
    lost.emplace_back(Object{{"domain", loss.domain},
                             {"groups", integer(loss.groups)},
                             {"unplaced", integer(loss.unplaced)},
                             {"violations", integer(loss.violations)},
                             {"firstUnplaced", loss.first_unplaced},
                             {"why", loss.why}});
  }
  Object out{{"have", integer(capacity.have)}, {"want", integer(capacity.want)},
             {"more", integer(capacity.more)}, {"limited", capacity.is_limited},
             {"perValue", std::move(values)},  {"runsOut", std::move(stops)},
             {"stranded", std::move(stranded)}};
  if (!losses.empty()) {
    out.emplace_back("survives", survives);
    out.emplace_back("losses", std::move(lost));
  }
  return out;
}

JsonValue to_json(const std::vector<Wave>& waves) {
  Array out;
  for (const Wave& wave : waves) {
    out.emplace_back(Object{{"hosts", names(wave.hosts)}, {"faultDomains", names(wave.zones)}});
  }
  return Object{{"waves", std::move(out)}};
}

}  // namespace fdbpack::wire
