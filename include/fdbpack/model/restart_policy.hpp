// SPDX-License-Identifier: Apache-2.0
//
// When a process that ended is started again: fdbmonitor's four keys, resolved. See
// supervise/backoff.hpp for the ladders they make.
#pragma once

#include "fdbpack/base/instant.hpp"

namespace fdbpack::model {

// How the delay grows: `backoff` times the one before; or, as fdb-kubernetes-monitor's, the square
// of the failures before this one, where a clean end is none.
enum class RestartLadder { factor, squares };

struct RestartPolicy {
  std::chrono::seconds delay_max{60};     // restart-delay
  std::chrono::seconds delay_initial{0};  // initial-restart-delay, never above delay_max
  double backoff = 60.0;                  // restart-backoff, at least 1; unset means restart-delay
  std::chrono::seconds reset_interval{
      60};  // restart-delay-reset-interval; unset means restart-delay
  RestartLadder ladder = RestartLadder::factor;

  bool operator==(const RestartPolicy&) const = default;
};

}  // namespace fdbpack::model
