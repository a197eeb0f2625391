// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/evacuate.hpp"

#include "cli/commands/fleet.hpp"
#include "cli/commands/place.hpp"
#include "cli/table.hpp"
#include "fdbpack/place/evacuate.hpp"
#include "fdbpack/place/explain.hpp"
#include "fdbpack/wire/place_json.hpp"

#include <fmt/format.h>

namespace fdbpack::cli {
namespace {

Result<place::EvacuateRequest> request_of(const EvacuateOptions& options) {
  place::EvacuateRequest request;
  FDBPACK_TRY(request.relaxed, parse_relaxed(options.relaxed));
  request.hosts = options.hosts;
  request.cluster = options.cluster;
  request.fault_domain = options.fault_domain;
  request.has_explanations = options.has_explanations || options.is_json;
  if (!options.domain.empty()) {
    const std::size_t equals = options.domain.find('=');
    if (equals == std::string::npos || equals == 0) {
      return fail(ErrorCode::invalid_argument, "--domain is written label=value, e.g. rack=r1");
    }
    request.label = options.domain.substr(0, equals);
    request.value = options.domain.substr(equals + 1);
  }
  if (!options.set.empty()) {
    const std::size_t slash = options.set.find('/');
    request.process_class = slash == std::string::npos ? "storage" : options.set.substr(0, slash);
    request.set = slash == std::string::npos ? options.set : options.set.substr(slash + 1);
  }
  return request;
}

void add_evacuation(const place::PlacementState& state, const place::Evacuation& result,
                    bool has_explanations, Page& page) {
  Table table({"GROUP", "CLUSTER", "FROM", "TO", "AS", "DOMAIN", "NOTE"});
  for (const place::NewGroup& placed : result.placed) {
    const place::Index old = state.inventory().find_group(placed.group.cluster, placed.replaces);
    table.add({placed.replaces, placed.group.cluster,
               state.inventory().groups()[static_cast<std::size_t>(old)].host, placed.group.host,
               placed.group.id, placed.group.fault_domain, breached_note(placed)});
  }
  page.table(table);
  if (has_explanations) add_explanations(state, result.placed, page);
  for (const place::Unplaced& missing : result.unplaced) {
    page.blank();
    page.bad(fmt::format("{}/{} has nowhere to go", missing.cluster, missing.replaces));
    for (const std::string& line : place::explain_text(state, missing.why, 20))
      page.line("  " + line);
  }
  for (const std::string& group : result.stranded)
    page.bad(fmt::format("{} belongs to a set that the spec no longer has", group));
  page.line(fmt::format("{} of {} groups find a new host, {:.1f} GiB to copy", result.placed.size(),
                        result.placed.size() + result.unplaced.size() + result.stranded.size(),
                        static_cast<double>(result.data_mib) / 1024.0));
}

}  // namespace

Outcome evacuate(const EvacuateOptions& options, ports::FileReader& files) {
  auto request = request_of(options);
  if (!request) return failure(ExitCode::usage, request.error().message);
  const auto inventory = load_fleet(options.fleet, files);
  if (!inventory) return inventory.error();
  if (!options.set.empty() || !options.fault_domain.empty()) {
    auto cluster = choose_cluster(*inventory, options.cluster);
    if (!cluster) return std::move(cluster.error());
    request->cluster = *std::move(cluster);
  }
  place::Planner planner(*inventory, options.seed);
  const auto result = place::evacuate(planner, *request);
  if (!result) return failure(ExitCode::usage, result.error().message);
  const bool is_complete = result->unplaced.empty() && result->stranded.empty();
  if (options.is_json) return json_outcome(wire::to_json(planner.state(), *result), is_complete);
  Page page(options.screen);
  add_evacuation(planner.state(), *result, options.has_explanations, page);
  return text_outcome(std::move(page), is_complete);
}

}  // namespace fdbpack::cli
