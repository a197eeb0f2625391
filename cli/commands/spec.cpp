// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/spec.hpp"

#include "fdbpack/wire/spec_json.hpp"

#include <fmt/format.h>

namespace fdbpack::cli {

tl::expected<model::ClusterSpec, Outcome> load_spec(const std::string& file,
                                                    ports::FileReader& files) {
  const auto text = files.read(file);
  if (!text) return tl::unexpected(failure(ExitCode::no_input, text.error().message));
  auto spec = wire::check_cluster_spec(*text);
  if (spec) return *std::move(spec);
  Outcome outcome;
  outcome.code = ExitCode::data;
  for (const auto& violation : spec.error()) {
    outcome.error += fmt::format("{}: {}: {}\n", file, violation.path, violation.message);
  }
  return tl::unexpected(std::move(outcome));
}

Outcome spec_check(const std::string& file, ports::FileReader& files) {
  const auto spec = load_spec(file, files);
  if (!spec) return spec.error();
  Outcome outcome;
  outcome.out = fmt::format("{}: good, cluster {} with", file, spec->name);
  const char* separator = " ";
  for (const auto& [process_class, sets] : spec->processes) {
    std::uint32_t groups = 0;
    std::uint32_t processes = 0;
    for (const auto& set : sets) {
      groups += set.count;
      processes += set.count * set.servers_per_disk;
    }
    outcome.out += fmt::format("{}{} {} group{}", separator, groups, to_string(process_class),
                               groups == 1 ? "" : "s");
    if (processes != groups) outcome.out += fmt::format(" ({} processes)", processes);
    separator = ", ";
  }
  outcome.out += "\n";
  return outcome;
}

}  // namespace fdbpack::cli
