// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/fleet.hpp"

#include "fdbpack/place/htools/text.hpp"
#include "fdbpack/wire/fleet_json.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fdbpack::cli {

tl::expected<place::Inventory, Outcome> load_fleet(const std::string& file,
                                                   ports::FileReader& files) {
  const auto text = files.read(file);
  if (!text) return tl::unexpected(failure(ExitCode::no_input, text.error().message));
  auto fleet = wire::check_fleet(*text);
  if (!fleet) {
    Outcome outcome;
    outcome.code = ExitCode::data;
    for (const auto& violation : fleet.error()) {
      outcome.error += fmt::format("{}: {}: {}\n", file, violation.path, violation.message);
    }
    return tl::unexpected(std::move(outcome));
  }
  auto inventory = place::Inventory::build(*std::move(fleet));
  if (!inventory)
    return tl::unexpected(failure(ExitCode::data, file + ": " + inventory.error().message));
  return *std::move(inventory);
}

tl::expected<place::htools::Cluster, Outcome> load_htools(const std::string& file,
                                                          ports::FileReader& files) {
  const auto text = files.read(file);
  if (!text) return tl::unexpected(failure(ExitCode::no_input, text.error().message));
  auto cluster = place::htools::parse_text(*text);
  if (!cluster)
    return tl::unexpected(failure(ExitCode::data, file + ": " + cluster.error().message));
  return *std::move(cluster);
}

tl::expected<std::string, Outcome> choose_cluster(const place::Inventory& inventory,
                                                  const std::string& name) {
  const auto& clusters = inventory.clusters();
  if (name.empty() && clusters.size() == 1) return clusters.front().name;
  if (name.empty()) {
    return tl::unexpected(failure(
        ExitCode::usage,
        fmt::format("the fleet has {} clusters; say which with --cluster", clusters.size())));
  }
  const bool is_known = std::any_of(clusters.begin(), clusters.end(),
                                    [&](const auto& cluster) { return cluster.name == name; });
  if (!is_known) {
    return tl::unexpected(failure(ExitCode::usage, fmt::format("there is no cluster {}", name)));
  }
  return name;
}

Outcome fleet_generate(const GenerateFleetOptions& options) {
  Outcome outcome;
  if (options.is_htools) {
    const auto cluster = place::generate_htools(options.fleet.hosts, options.fleet.groups_per_host,
                                                options.fleet.seed);
    if (!cluster) return failure(ExitCode::usage, cluster.error().message);
    outcome.out = place::htools::print_text(*cluster);
    return outcome;
  }
  const auto fleet = place::generate_fleet(options.fleet);
  if (!fleet) return failure(ExitCode::usage, fleet.error().message);
  outcome.out = wire::write_fleet(*fleet);
  return outcome;
}

Outcome fleet_check(const std::string& file, ports::FileReader& files, const Screen& screen) {
  const auto inventory = load_fleet(file, files);
  if (!inventory) return inventory.error();
  Page page(screen);
  page.good(fmt::format("{}: good, {} hosts, {} clusters, {} process groups", file,
                        inventory->hosts().size(), inventory->clusters().size(),
                        inventory->groups().size()));
  for (const place::Violation& violation : place::violations(*inventory))
    page.bad(fmt::format("{}: {}: {}", violation.subject, violation.rule, violation.message));
  return text_outcome(std::move(page));
}

Outcome text_outcome(Page page, bool is_complete) {
  Outcome outcome;
  outcome.code = is_complete ? ExitCode::ok : ExitCode::incomplete;
  outcome.out = std::move(page).text();
  return outcome;
}

Outcome json_outcome(const wire::JsonValue& value, bool is_complete) {
  Outcome outcome;
  outcome.code = is_complete ? ExitCode::ok : ExitCode::incomplete;
  outcome.out = wire::print_json(value, wire::JsonLayout::indented);
  return outcome;
}

Result<place::ConstraintSet> parse_relaxed(const std::vector<std::string>& names) {
  place::ConstraintSet out;
  for (const std::string& name : names) {
    FDBPACK_TRY(const place::Constraint constraint, place::parse_constraint(name));
    if (!place::can_relax(constraint)) {
      return fail(ErrorCode::invalid_argument, name + " cannot be relaxed");
    }
    out.insert(constraint);
  }
  return out;
}

}  // namespace fdbpack::cli
