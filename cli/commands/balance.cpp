// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/balance.hpp"

#include "cli/commands/fleet.hpp"
#include "cli/progress.hpp"
#include "cli/table.hpp"
#include "fdbpack/place/htools/balance.hpp"
#include "fdbpack/place/rebalance.hpp"
#include "fdbpack/wire/place_json.hpp"

#include <fmt/format.h>

namespace fdbpack::cli {
namespace {

// Says how far the search is, where somebody watches.
std::function<void(std::size_t, double)> show_steps(Progress& progress) {
  return [&progress](std::size_t moves, double score) {
    if (progress.is_due()) progress.say(fmt::format("{} moves, score {:.6f}", moves, score));
  };
}

Outcome balance_htools(const BalanceOptions& options, ports::FileReader& files) {
  auto cluster = load_htools(options.htools, files);
  if (!cluster) return cluster.error();
  place::htools::BalanceOptions balance_options;
  balance_options.group = options.group;
  balance_options.ignore_dynu = options.ignore_dynu;
  balance_options.moves_max = options.moves_max;
  if (options.gain_min >= 0) balance_options.gain_min = options.gain_min;
  if (!options.has_swaps) balance_options.swap_gain_min = -1;
  const auto result = [&] {
    Progress progress("balance", options.screen);
    balance_options.on_step = show_steps(progress);
    return place::htools::balance(*std::move(cluster), balance_options);
  }();
  if (!result) return failure(ExitCode::data, options.htools + ": " + result.error().message);
  if (options.is_json) return json_outcome(wire::to_json(*result));
  Table table({"", "INSTANCE", "FROM", "TO", "SCORE", "HOW"});
  for (std::size_t i = 0; i < result->moves.size(); ++i) {
    const place::htools::Move& move = result->moves[i];
    const auto node = [&](std::int32_t n) {
      return result->cluster.nodes[static_cast<std::size_t>(n)].name;
    };
    table.add({std::to_string(i + 1),
               result->cluster.instances[static_cast<std::size_t>(move.instance)].name,
               node(move.from), node(move.to), fmt::format("{:.8f}", move.score),
               move.is_swap ? "swap" : "move"});
  }
  Page page(options.screen);
  page.table(table);
  page.line(fmt::format("score {:.8f} -> {:.8f} in {} moves", result->initial.overall(),
                        result->final.overall(), result->moves.size()));
  if (result->mirrored > 0)
    page.line(fmt::format("{} mirrored instances were left where they are", result->mirrored));
  return text_outcome(std::move(page));
}

void add_rebalance(const place::PlacementState& state, const place::Rebalance& result,
                   bool has_explanations, Page& page) {
  Table table({"", "GROUP", "CLUSTER", "FROM", "TO", "AS", "GIB", "SCORE", "WHY"});
  for (std::size_t i = 0; i < result.moves.size(); ++i) {
    const place::Replacement& move = result.moves[i];
    table.add({std::to_string(i + 1), move.id, move.cluster, move.from, move.to, move.new_id,
               fmt::format("{:.1f}", static_cast<double>(move.data_mib) / 1024.0),
               fmt::format("{:.6f}", move.score), move.is_swap ? move.why + ", swap" : move.why});
  }
  page.table(table);
  for (const place::Replacement& move : result.moves) {
    if (!has_explanations) break;
    const std::vector<std::string> lines = place::explain_text(state, move);
    page.blank();
    for (std::size_t i = 0; i < lines.size(); ++i)
      page.line((i == 0 ? "" : "  ") + lines[i]);
  }
  if (has_explanations && !result.moves.empty()) page.blank();
  page.line(fmt::format(
      "score {:.6f} -> {:.6f}, violations {} -> {}, {} replacements, {:.1f} GiB to copy",
      result.before.score(), result.after.score(), result.before.violations,
      result.after.violations, result.moves.size(), static_cast<double>(result.data_mib) / 1024.0));
  if (result.has_second_moves)
    page.line("a group that moves twice has to: there is no room for it to go straight");
  if (result.is_budget_spent) page.bad("the budget is spent; more would help");
  for (const std::string& cluster : result.unhealthy)
    page.bad(fmt::format("{} was left alone: its database is not healthy", cluster));
}

}  // namespace

Outcome balance(const BalanceOptions& options, ports::FileReader& files) {
  if (!options.htools.empty()) return balance_htools(options, files);
  const auto inventory = load_fleet(options.fleet, files);
  if (!inventory) return inventory.error();
  place::Planner planner(*inventory);
  place::RebalanceOptions rebalance_options;
  rebalance_options.moves_max = options.moves_max;
  if (options.data_gib_max >= 0) rebalance_options.data_mib_max = options.data_gib_max * 1024;
  if (options.gain_min >= 0) rebalance_options.gain_min = options.gain_min;
  rebalance_options.has_swaps = options.has_swaps;
  rebalance_options.has_explanations = options.has_explanations;
  const place::Rebalance result = [&] {
    Progress progress("balance", options.screen);
    rebalance_options.on_step = show_steps(progress);
    return place::rebalance(planner, rebalance_options);
  }();
  if (options.is_json) return json_outcome(wire::to_json(planner.state(), result));
  Page page(options.screen);
  add_rebalance(planner.state(), result, options.has_explanations, page);
  return text_outcome(std::move(page));
}

}  // namespace fdbpack::cli
