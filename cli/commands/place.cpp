// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/place.hpp"

#include "cli/commands/fleet.hpp"
#include "cli/table.hpp"
#include "fdbpack/place/explain.hpp"
#include "fdbpack/place/ids.hpp"
#include "fdbpack/place/plan.hpp"
#include "fdbpack/wire/htools_json.hpp"
#include "fdbpack/wire/place_json.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fdbpack::cli {
namespace {

using place::FleetPlan;
using place::NewGroup;
using place::PlacementState;

std::string unit_text(const place::Group& group) {
  std::string out;
  for (const place::PlacedDisk& disk : group.disks)
    out += (out.empty() ? "" : ", ") + place::to_string(disk.unit);
  return out.empty() ? "-" : out;
}

Table placed_table(const FleetPlan& plan) {
  Table table({"GROUP", "CLUSTER", "SET", "HOST", "UNIT", "DOMAIN", "SLOT", "REPLACES", "NOTE"});
  for (const NewGroup& placed : plan.placed) {
    const place::Group& group = placed.group;
    std::string note = breached_note(placed);
    if (placed.step > 1) note += fmt::format("{}step {}", note.empty() ? "" : ", ", placed.step);
    table.add({group.id, group.cluster, group.set, group.host, unit_text(group), group.fault_domain,
               std::to_string(group.port_slot), placed.replaces, note});
  }
  return table;
}

void add_removals(const std::vector<place::Removal>& list, const char* verb, Page& page) {
  for (const place::Removal& removal : list)
    page.line(fmt::format("{}/{} is {}: {}", removal.cluster, removal.id, verb, removal.why));
}

void add_plan(const PlacementState& state, const FleetPlan& plan, bool has_explanations,
              Page& page) {
  page.table(placed_table(plan));
  if (has_explanations) add_explanations(state, plan.placed, page);
  for (const place::Unplaced& missing : plan.unplaced) {
    page.blank();
    page.bad(fmt::format("{} of {} set {} of {} has no host", missing.id, missing.process_class,
                         missing.set, missing.cluster));
    if (!missing.replaces.empty()) {
      page.line(fmt::format("  {} stays until there is one: {}", missing.replaces, missing.cause));
    }
    for (const std::string& line : place::explain_text(state, missing.why, 20))
      page.line("  " + line);
  }
  add_removals(plan.replaced, "replaced", page);
  add_removals(plan.removed, "removed", page);
  for (const std::vector<place::Violation>* list : {&plan.violations, &plan.unmet}) {
    for (const place::Violation& violation : *list)
      page.bad(fmt::format("{}: {}: {}", violation.subject, violation.rule, violation.message));
  }
  if (page.empty()) {
    page.good("nothing to do");
    return;
  }
  const bool has_steps = std::any_of(plan.placed.begin(), plan.placed.end(),
                                     [](const NewGroup& placed) { return placed.step > 1; });
  if (has_steps)
    page.line("a later step needs the room of groups that leave in the steps before it");
  page.line(fmt::format(
      "score {:.6f} -> {:.6f} (cpu {:.4f}, memory {:.4f}, storage {:.4f}), {} violations",
      plan.before.score(), plan.after.score(), plan.after.cpu, plan.after.memory,
      plan.after.storage, plan.after.violations));
}

Outcome place_request(const PlaceOptions& options, ports::FileReader& files) {
  const auto text = files.read(options.request);
  if (!text) return failure(ExitCode::no_input, text.error().message);
  const auto request = wire::read_htools_request(*text);
  if (!request) return failure(ExitCode::data, request.error().message);
  const auto answer = place::htools::allocate(request->cluster, request->wanted);
  if (!answer) return failure(ExitCode::data, answer.error().message);
  const bool is_placed = answer->node != place::htools::kNoNode;
  if (options.is_json) return json_outcome(wire::to_json(*request, *answer), is_placed);
  const auto name = [&](std::int32_t node) {
    return request->cluster.nodes[static_cast<std::size_t>(node)].name;
  };
  Page page(options.screen);
  if (is_placed) {
    page.line(fmt::format("{} goes to {}: score {:.8f}", request->wanted.name, name(answer->node),
                          answer->score));
  } else {
    page.bad(fmt::format("no node can take {}", request->wanted.name));
  }
  if (answer->runner_up != place::htools::kNoNode) {
    page.line(fmt::format("runner-up {}: score {:.8f}", name(answer->runner_up),
                          answer->runner_up_score));
  }
  for (const place::htools::NodeRefusal& refusal : answer->refused) {
    page.line(
        fmt::format("  {}: {}: {}", name(refusal.node), to_string(refusal.lack), refusal.reason));
  }
  return text_outcome(std::move(page), is_placed);
}

}  // namespace

std::string breached_note(const NewGroup& placed) {
  std::string out;
  for (const place::Constraint constraint : placed.breached)
    out += (out.empty() ? "breaks " : ", ") + std::string(to_string(constraint));
  return out;
}

void add_explanations(const PlacementState& state, const std::vector<NewGroup>& placed,
                      Page& page) {
  for (const NewGroup& one : placed) {
    page.blank();
    page.line(place::headline(one));
    for (const std::string& line : place::explain_text(state, one.why))
      page.line("  " + line);
  }
}

Outcome place(const PlaceOptions& options, ports::FileReader& files) {
  if (!options.request.empty()) return place_request(options, files);
  const auto relaxed = parse_relaxed(options.relaxed);
  if (!relaxed) return failure(ExitCode::usage, relaxed.error().message);
  const auto inventory = load_fleet(options.fleet, files);
  if (!inventory) return inventory.error();
  place::Planner planner(*inventory, options.seed);
  place::PlanOptions plan_options;
  plan_options.cluster = options.cluster;
  plan_options.relaxed = *relaxed;
  plan_options.has_explanations = options.has_explanations || options.is_json;
  const auto plan = place::plan(planner, plan_options);
  if (!plan) return failure(ExitCode::data, plan.error().message);
  const bool is_complete = plan->unplaced.empty() && plan->unmet.empty();
  if (options.is_json) return json_outcome(wire::to_json(planner.state(), *plan), is_complete);
  Page page(options.screen);
  add_plan(planner.state(), *plan, options.has_explanations, page);
  return text_outcome(std::move(page), is_complete);
}

Outcome explain(const ExplainOptions& options, ports::FileReader& files) {
  const auto relaxed = parse_relaxed(options.relaxed);
  if (!relaxed) return failure(ExitCode::usage, relaxed.error().message);
  const auto inventory = load_fleet(options.fleet, files);
  if (!inventory) return inventory.error();
  const auto cluster = choose_cluster(*inventory, options.cluster);
  if (!cluster) return cluster.error();
  const place::Index set = inventory->find_set(*cluster, options.process_class, options.set);
  if (set == place::kNone) {
    return failure(ExitCode::usage, fmt::format("there is no {} set {} in cluster {}",
                                                options.process_class, options.set, *cluster));
  }
  place::Planner planner(*inventory, options.seed);
  place::Want want;
  want.set = set;
  want.relaxed = *relaxed;
  want.id = place::IdSource(planner.state(), inventory->sets()[static_cast<std::size_t>(set)].scope)
                .next();
  const place::Explanation why = planner.explain(want);
  const bool is_placed = why.winner != place::kNone;
  if (options.is_json) return json_outcome(wire::to_json(planner.state(), why), is_placed);
  Page page(options.screen);
  page.line(fmt::format("{}: the next group of {} set {} of {}", want.id, options.process_class,
                        options.set, *cluster));
  for (const std::string& line : place::explain_text(planner.state(), why))
    page.line(line);
  return text_outcome(std::move(page), is_placed);
}

}  // namespace fdbpack::cli
