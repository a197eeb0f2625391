// SPDX-License-Identifier: Apache-2.0
//
// What the processes of one host may not share: an address they listen on, and a data directory.
#pragma once

#include "fdbpack/conf/monitor_conf.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace fdbpack::conf {

// The value of --NAME=value, where `name` is written with `_` and the argument in either spelling;
// "" if not given.
[[nodiscard]] std::string_view argument_value(const std::vector<std::string>& argv,
                                              std::string_view name);

struct Conflict {
  std::string first;  // sections
  std::string second;
  std::string message;
  Position at;  // of the second
};

// Pairs of processes with one data directory, or with one listener: the same port on the same
// address, or on any address when one of the two listens on all.
[[nodiscard]] std::vector<Conflict> find_conflicts(const std::vector<ProcessCommand>& processes);

}  // namespace fdbpack::conf
