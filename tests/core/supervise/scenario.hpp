// SPDX-License-Identifier: Apache-2.0
//
// Scenarios of the process machine: text files that read as prose and are the assertion.
//
//   # Why this scenario is here.
//   policy restart-delay=60 backoff=2          commands, one per line; `+5s` in front lets time
//   pass configured 1 kill
//   ----
//   launch 1                                   what the machine answered
//   => starting                                and what it is then
//
//   +5s exited 100 code 0
//   ----
//   ...
//
// A blank line ends the answer. Numbers such as `@5s` are times since the beginning.
#pragma once

#include "fdbpack/supervise/machine.hpp"

#include <string>
#include <string_view>

namespace fdbpack::supervise {

// Carries out the commands of `text` and gives it back with the answers as they are now.
[[nodiscard]] std::string run_scenario(std::string_view text);

}  // namespace fdbpack::supervise
