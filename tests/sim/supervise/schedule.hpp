// SPDX-License-Identifier: Apache-2.0
//
// One random schedule: an agent, its processes and its conf file through a dozen or more faults,
// then peace. The same seed gives the same schedule.
#pragma once

#include "tests/sim/supervise/conf_file.hpp"

#include <cstdint>
#include <string>

namespace fdbpack::supervise::sim {

struct Outcome {
  std::string failure;  // empty: all invariants held and it converged
  std::string trace;    // the last events, when it failed
  std::uint64_t steps = 0;
};

[[nodiscard]] Outcome run_schedule(std::uint64_t seed, ConfCache& cache);

}  // namespace fdbpack::supervise::sim
