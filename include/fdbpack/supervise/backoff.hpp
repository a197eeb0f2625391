// SPDX-License-Identifier: Apache-2.0
//
// How long to wait before a process that ended is started again.
//
// The ladder is fdbmonitor's. At every death, with all times in seconds:
//
//   1. ran for at least `reset_interval`      current = initial
//   2. jitter = whole number, uniform in [floor(-current/10), ceil(current/10)]
//      delay  = max(0, round(current) + jitter)
//   3. current = min(max, backoff * max(1, current))
//   4. a clean exit                           delay = 0; the step of 3 stays
//
//   restart-delay 60, nothing else     0, 60, 60, ...
//   ... and restart-backoff 2          0, 2, 4, 8, 16, 32, 60, 60, ...
//
// With RestartLadder::squares 2 and 3 are those of fdb-kubernetes-monitor, and a clean exit is no
// step:
//
//   2. delay = current      3. current = min(max, (sqrt(current) + 1)^2)      0, 1, 4, 9, ... 60
//
// A delay of 0 is where fdbmonitor can spin: clean exits, `restart-delay = 0`, a ladder whose
// jitter reaches 0. So restarts at once cost credit, and credit is earned by running:
//
//   credit      at most 10 s, full at the beginning; each second of running earns one second
//   at once     costs 2 s. A process that ran 2 s or more is always started at once; a new one
//               that ends immediately, five times in a row
//   no credit   the start is delayed until 1 s after the one before, then 2, 4, 8, ... s, at most
//               `restart-delay` or 1 s, whichever is more. The first restart that can be paid
//               for makes this 1 s again
//
// SIGHUP and new configurations reset the ladder but give no credit: whatever happens around it,
// no process is restarted on its own more often than 5 times at once and then once a second.
#pragma once

#include "fdbpack/base/instant.hpp"
#include "fdbpack/base/random.hpp"
#include "fdbpack/model/restart_policy.hpp"
#include "fdbpack/supervise/exit.hpp"

#include <optional>

namespace fdbpack::supervise {

inline constexpr Duration kRestartCreditMax = std::chrono::seconds(10);
inline constexpr Duration kRestartCost = std::chrono::seconds(2);
inline constexpr Duration kRestartSpacingMin = std::chrono::seconds(1);
// No delay is longer, whatever the conf says: ten years, so that sums of times cannot overflow.
inline constexpr Duration kRestartDelayMax = std::chrono::hours(24 * 3650);

struct Backoff {
  double current_s = 0;               // the nominal delay of the next failure
  std::optional<Instant> last_start;  // none: never started with this command line
  Duration credit = kRestartCreditMax;
  unsigned spaced = 0;  // restarts in a row that could not be paid for

  bool operator==(const Backoff&) const = default;
};

[[nodiscard]] Backoff fresh_backoff(const model::RestartPolicy& policy);

// SIGHUP, and a new command line: the ladder begins again. `last_start` and credit stay.
[[nodiscard]] Backoff reset_ladder(Backoff backoff, const model::RestartPolicy& policy);

// A new policy for the same command line: `current` is brought into [initial, max].
[[nodiscard]] Backoff clamp_ladder(Backoff backoff, const model::RestartPolicy& policy);

// The process is being started now.
[[nodiscard]] Backoff note_start(Backoff backoff, Instant now);

// The process ended now because it was asked to, and is started again without any delay.
[[nodiscard]] Backoff earn_credit(Backoff backoff, Instant now);

struct RestartDelay {
  Backoff backoff;
  Duration delay{};
  bool is_spaced = false;  // the ladder wanted it sooner, the credit was used up
};

// The process ended now, or could not be started.
[[nodiscard]] RestartDelay next_restart(Backoff backoff, ExitClass end,
                                        const model::RestartPolicy& policy, Instant now,
                                        Random& random);

}  // namespace fdbpack::supervise
