// SPDX-License-Identifier: Apache-2.0
//
// Fleet snapshots: reading one for any command of placement, and inventing one.
#pragma once

#include "cli/outcome.hpp"
#include "cli/screen.hpp"
#include "fdbpack/place/constraint.hpp"
#include "fdbpack/place/generate.hpp"
#include "fdbpack/place/htools/cluster.hpp"
#include "fdbpack/place/inventory.hpp"
#include "fdbpack/wire/json_value.hpp"
#include "ports/file_reader.hpp"

#include <tl/expected.hpp>

#include <string>
#include <vector>

namespace fdbpack::cli {

[[nodiscard]] tl::expected<place::Inventory, Outcome> load_fleet(const std::string& file,
                                                                 ports::FileReader& files);
[[nodiscard]] tl::expected<place::htools::Cluster, Outcome> load_htools(const std::string& file,
                                                                        ports::FileReader& files);

// The cluster a person named, or the only one.
[[nodiscard]] tl::expected<std::string, Outcome> choose_cluster(const place::Inventory& inventory,
                                                                const std::string& name);

struct GenerateFleetOptions {
  place::GenerateOptions fleet;
  bool is_htools = false;
};
[[nodiscard]] Outcome fleet_generate(const GenerateFleetOptions& options);
// Everything that is wrong with a snapshot, or what it holds and which rules it breaks as it
// stands.
[[nodiscard]] Outcome fleet_check(const std::string& file, ports::FileReader& files,
                                  const Screen& screen);

// Text for people as a command's output.
[[nodiscard]] Outcome text_outcome(Page page, bool is_complete = true);
// Indented JSON as a command's output.
[[nodiscard]] Outcome json_outcome(const wire::JsonValue& value, bool is_complete = true);
// Names given as --relax, or the reason why one cannot be.
[[nodiscard]] Result<place::ConstraintSet> parse_relaxed(const std::vector<std::string>& names);

}  // namespace fdbpack::cli
