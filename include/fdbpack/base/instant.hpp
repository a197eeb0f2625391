// SPDX-License-Identifier: Apache-2.0
//
// Points in time as values. Core never reads a clock: `now` is always an argument.
//
//   Instant   a point on the machine's monotonic clock; compares and subtracts, means nothing
//   elsewhere WallTime  a point in calendar time, to the millisecond; for people and for files
#pragma once

#include <chrono>

namespace fdbpack {

using Duration = std::chrono::nanoseconds;

// A clock in name only: it has no now().
struct MonotonicTime {
  using rep = Duration::rep;
  using period = Duration::period;
  using duration = Duration;
  using time_point = std::chrono::time_point<MonotonicTime>;
  static constexpr bool is_steady = true;
};

using Instant = MonotonicTime::time_point;
using WallTime = std::chrono::sys_time<std::chrono::milliseconds>;

}  // namespace fdbpack
