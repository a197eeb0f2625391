// SPDX-License-Identifier: Apache-2.0
//
// Points on the monotonic clock as the calendar times that were said of them first. Calculated
// anew each time they would wobble by a millisecond, and pages would differ though nothing
// happened.
#pragma once

#include "fdbpack/base/instant.hpp"

#include <chrono>
#include <deque>
#include <utility>

namespace fdbpack::agent {

class WallTimes {
 public:
  // More than one process has at a time.
  static constexpr std::size_t kKept = 8;
  // A calendar that differs by more was set.
  static constexpr auto kWobbleMax = std::chrono::seconds(1);

  // `fresh`: what `instant` is by the calendar of now.
  WallTime at(Instant instant, WallTime fresh) {
    for (auto& [known, wall] : times_) {
      if (known != instant) continue;
      if (fresh - wall > kWobbleMax || wall - fresh > kWobbleMax) wall = fresh;
      return wall;
    }
    times_.emplace_back(instant, fresh);
    if (times_.size() > kKept) times_.pop_front();
    return fresh;
  }

 private:
  std::deque<std::pair<Instant, WallTime>> times_;
};

}  // namespace fdbpack::agent
