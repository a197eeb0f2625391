// SPDX-License-Identifier: Apache-2.0
//
// fdbpack evacuate: where everything goes when hosts, a physical domain, a set or a fault domain
// are emptied.
#pragma once

#include "cli/outcome.hpp"
#include "cli/screen.hpp"
#include "ports/file_reader.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fdbpack::cli {

struct EvacuateOptions {
  std::string fleet;
  std::vector<std::string> hosts;
  std::string domain;  // label=value
  std::string cluster;
  std::string set;           // class/set
  std::string fault_domain;  // storage-1
  std::vector<std::string> relaxed;
  bool has_explanations = false;
  bool is_json = false;
  std::optional<std::uint64_t> seed;  // ties go by it instead of by ID
  Screen screen;
};
[[nodiscard]] Outcome evacuate(const EvacuateOptions& options, ports::FileReader& files);

}  // namespace fdbpack::cli
