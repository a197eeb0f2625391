// SPDX-License-Identifier: Apache-2.0
//
// fdbpack balance: replacements that make a fleet more even, by our own objective or by hbal's.
#pragma once

#include "cli/outcome.hpp"
#include "cli/screen.hpp"
#include "ports/file_reader.hpp"

#include <cstdint>
#include <string>

namespace fdbpack::cli {

struct BalanceOptions {
  std::string fleet;   // a fleet snapshot, or
  std::string htools;  // a cluster in htools' text format
  std::string group;   // node group of the latter
  bool ignore_dynu = false;
  int moves_max = -1;
  std::int64_t data_gib_max = -1;
  double gain_min = -1;  // below 0: the objective's own
  bool has_swaps = true;
  bool has_explanations = false;
  bool is_json = false;
  Screen screen;
};
[[nodiscard]] Outcome balance(const BalanceOptions& options, ports::FileReader& files);

}  // namespace fdbpack::cli
