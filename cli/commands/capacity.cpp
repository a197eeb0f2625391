// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/capacity.hpp"

#include "cli/commands/fleet.hpp"
#include "cli/progress.hpp"
#include "cli/table.hpp"
#include "fdbpack/place/affinity.hpp"
#include "fdbpack/place/capacity.hpp"
#include "fdbpack/place/htools/capacity.hpp"
#include "fdbpack/place/waves.hpp"
#include "fdbpack/wire/place_json.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fdbpack::cli {
namespace {

// What was asked for, or az where hosts have that label.
std::string label_to_count_by(const place::Inventory& inventory, const std::string& asked) {
  if (!asked.empty()) return asked;
  const bool has_az =
      std::any_of(inventory.hosts().begin(), inventory.hosts().end(),
                  [](const place::Host& host) { return host.labels.contains("az"); });
  return has_az ? "az" : "";
}

std::string hosts_text(int hosts) {
  return fmt::format("{} host{}", hosts, hosts == 1 ? "" : "s");
}

void add_capacity(const CapacityOptions& options, const std::string& label,
                  const place::Capacity& result, Page& page) {
  page.line(fmt::format("{} set {}: has {}, wants {}, {}{} more fit", options.process_class,
                        options.set, result.have, result.want, result.is_limited ? "at least " : "",
                        result.more));
  for (const auto& [value, count] : result.per_value)
    page.line(fmt::format("  {} {}: {}", label, value.empty() ? "(none)" : value, count));
  for (const place::Stop& stop : result.stops)
    page.line(fmt::format("then {} stops {}", to_string(stop.constraint), hosts_text(stop.hosts)));
  for (const place::Stranded& entry : result.stranded) {
    const std::string what = entry.resource == "cpu" ? fmt::format("{} cores", entry.amount / 1000)
                                                     : fmt::format("{} MiB", entry.amount);
    page.line(
        fmt::format("stranded: {} of {} on {}", what, entry.resource, hosts_text(entry.hosts)));
  }
}

void add_losses(const std::vector<place::Loss>& losses, Page& page) {
  Table table({"LOST", "GROUPS", "UNPLACED", "VIOLATIONS", "FIRST", "WHY"});
  for (const place::Loss& loss : losses) {
    if (loss.unplaced == 0 && loss.violations == 0 && losses.size() > 1) continue;
    table.add({loss.domain, std::to_string(loss.groups), std::to_string(loss.unplaced),
               std::to_string(loss.violations), loss.first_unplaced, loss.why});
  }
  page.table(table);
  const auto bad = std::count_if(losses.begin(), losses.end(),
                                 [](const auto& loss) { return loss.unplaced > 0; });
  if (bad == 0) {
    page.good(fmt::format("each of {} losses can be placed again", losses.size()));
  } else {
    page.bad(fmt::format("{} of {} losses cannot be placed again", bad, losses.size()));
  }
}

Outcome capacity_htools(const CapacityOptions& options, ports::FileReader& files) {
  const auto cluster = load_htools(options.htools, files);
  if (!cluster) return cluster.error();
  const auto result = place::htools::forecast(*cluster);
  if (!result) return failure(ExitCode::data, options.htools + ": " + result.error().message);
  const auto tiers = place::htools::forecast_tiered(*cluster);
  if (!tiers) return failure(ExitCode::data, options.htools + ": " + tiers.error().message);
  if (options.is_json) {
    wire::JsonValue::Array sizes;
    for (const place::htools::Tier& tier : *tiers) {
      sizes.emplace_back(
          wire::JsonValue::Object{{"memory", wire::JsonValue(tier.spec.memory)},
                                  {"disk", wire::JsonValue(tier.spec.disk)},
                                  {"vcpus", wire::JsonValue(tier.spec.vcpus)},
                                  {"spindles", wire::JsonValue(tier.spec.spindle_use)},
                                  {"instances", wire::JsonValue(tier.instances)}});
    }
    wire::JsonValue::Object lacks;
    for (const auto& [lack, nodes] : result->lacks) {
      lacks.emplace_back(std::string(to_string(lack)), wire::JsonValue(std::int64_t{nodes}));
    }
    return json_outcome(wire::JsonValue::Object{{"more", wire::JsonValue(result->instances)},
                                                {"tiers", std::move(sizes)},
                                                {"failsN1", result->fails_n1},
                                                {"runsOut", std::move(lacks)}});
  }
  Page page(options.screen);
  page.line(fmt::format("{} more instances of the standard specification fit", result->instances));
  if (result->fails_n1)
    page.bad("a node could not take over what it keeps memory for; nothing is added");
  for (const auto& [lack, nodes] : result->lacks)
    page.line(fmt::format("then {} stops {} nodes", to_string(lack), nodes));
  Table table({"MEMORY", "DISK", "VCPUS", "SPINDLES", "INSTANCES"});
  for (const place::htools::Tier& tier : *tiers) {
    table.add({std::to_string(tier.spec.memory), std::to_string(tier.spec.disk),
               std::to_string(tier.spec.vcpus), std::to_string(tier.spec.spindle_use),
               std::to_string(tier.instances)});
  }
  if (!table.empty()) page.line("or, from the largest that the policy allows downwards:");
  page.table(table);
  return text_outcome(std::move(page));
}

}  // namespace

Outcome capacity(const CapacityOptions& options, ports::FileReader& files) {
  if (!options.htools.empty()) return capacity_htools(options, files);
  const auto inventory = load_fleet(options.fleet, files);
  if (!inventory) return inventory.error();
  auto cluster = choose_cluster(*inventory, options.cluster);
  if (!cluster) return std::move(cluster.error());
  place::Planner planner(*inventory);
  place::CapacityRequest request;
  request.cluster = *std::move(cluster);
  request.process_class = options.process_class;
  request.set = options.set;
  request.label = label_to_count_by(*inventory, options.label);
  const auto result = place::capacity(planner, request);
  if (!result) return failure(ExitCode::usage, result.error().message);
  std::vector<place::Loss> losses;
  if (!options.lose.empty()) {
    const std::size_t equals = options.lose.find('=');
    const std::string value = equals == std::string::npos ? "" : options.lose.substr(equals + 1);
    Progress progress("capacity", options.screen);
    auto lost = place::survive(planner, options.lose.substr(0, equals), value,
                               [&](std::size_t done, std::size_t all) {
                                 if (progress.is_due())
                                   progress.say(fmt::format("{} of {} losses tried", done, all));
                               });
    if (!lost) return failure(ExitCode::usage, lost.error().message);
    losses = *std::move(lost);
  }
  const bool survives = std::all_of(losses.begin(), losses.end(),
                                    [](const place::Loss& loss) { return loss.unplaced == 0; });
  if (options.is_json) return json_outcome(wire::to_json(*result, losses), survives);
  Page page(options.screen);
  add_capacity(options, request.label, *result, page);
  if (!losses.empty()) add_losses(losses, page);
  return text_outcome(std::move(page), survives);
}

Outcome waves(const WavesOptions& options, ports::FileReader& files) {
  const auto inventory = load_fleet(options.fleet, files);
  if (!inventory) return inventory.error();
  const std::vector<place::Wave> result = place::waves(*inventory, {options.hosts_max});
  if (options.is_json) return json_outcome(wire::to_json(result));
  Page page(options.screen);
  if (result.empty()) page.line("there are no hosts");
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::size_t hosts = result[i].hosts.size();
    page.wrapped(fmt::format("wave {}, {} host{}:", i + 1, hosts, hosts == 1 ? "" : "s"),
                 result[i].hosts);
    page.wrapped("  down meanwhile:",
                 result[i].zones.empty() ? std::vector<std::string>{"nothing"} : result[i].zones);
  }
  return text_outcome(std::move(page));
}

Outcome affinity(const AffinityOptions& options, ports::FileReader& files) {
  const auto inventory = load_fleet(options.fleet, files);
  if (!inventory) return inventory.error();
  const auto pod = place::pod_placement(*inventory, options.cluster, options.group);
  if (!pod) return failure(ExitCode::usage, pod.error().message);
  return json_outcome(wire::to_json(*pod));
}

}  // namespace fdbpack::cli
