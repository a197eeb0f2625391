// SPDX-License-Identifier: Apache-2.0
//
// fdbpack place: what brings the clusters of a fleet to what their specs ask for, and where each
// new group goes. fdbpack explain: where the next group of one set would go, and what every other
// host lacks.
#pragma once

#include "cli/outcome.hpp"
#include "cli/screen.hpp"
#include "fdbpack/place/plan.hpp"
#include "ports/file_reader.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fdbpack::cli {

struct PlaceOptions {
  std::string fleet;    // a fleet snapshot, or
  std::string request;  // an allocation request as hail reads it
  std::string cluster;
  std::vector<std::string> relaxed;
  bool is_json = false;
  bool has_explanations = false;
  std::optional<std::uint64_t> seed;  // ties go by it instead of by ID
  Screen screen;
};
[[nodiscard]] Outcome place(const PlaceOptions& options, ports::FileReader& files);

// For the tables of every plan: "breaks cpu, memory", or nothing.
[[nodiscard]] std::string breached_note(const place::NewGroup& placed);
// Why each group goes where it goes.
void add_explanations(const place::PlacementState& state,
                      const std::vector<place::NewGroup>& placed, Page& page);

struct ExplainOptions {
  std::string fleet;
  std::string cluster;  // empty: the only one
  std::string process_class = "storage";
  std::string set = "default";
  std::vector<std::string> relaxed;
  bool is_json = false;
  std::optional<std::uint64_t> seed;  // ties go by it instead of by ID
  Screen screen;
};
[[nodiscard]] Outcome explain(const ExplainOptions& options, ports::FileReader& files);

}  // namespace fdbpack::cli
