// SPDX-License-Identifier: Apache-2.0
//
// Command lines as JSON: {"processes":[{"section":…,"argv":[…]}],"errors":[…]}, and "env" beside
// argv where a process gets variables of its own.
#pragma once

#include "fdbpack/conf/monitor_conf.hpp"

#include <string>
#include <vector>

namespace fdbpack::wire {

[[nodiscard]] std::string write_command_lines(const std::vector<conf::ProcessCommand>& processes,
                                              const std::vector<std::string>& errors);

}  // namespace fdbpack::wire
