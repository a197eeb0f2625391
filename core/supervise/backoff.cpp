// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/supervise/backoff.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace fdbpack::supervise {
namespace {

using Seconds = std::chrono::duration<double>;

Duration bounded(std::chrono::seconds value) {
  constexpr auto kMax = std::chrono::duration_cast<std::chrono::seconds>(kRestartDelayMax);
  return std::clamp(value, std::chrono::seconds(0), kMax);
}

double max_s(const model::RestartPolicy& policy) {
  return Seconds(bounded(policy.delay_max)).count();
}

double initial_s(const model::RestartPolicy& policy) {
  return std::min(max_s(policy), Seconds(bounded(policy.delay_initial)).count());
}

Duration since_start(const Backoff& backoff, Instant now) {
  if (!backoff.last_start || now < *backoff.last_start) return Duration::zero();
  return now - *backoff.last_start;
}

Duration with_jitter(double current_s, const model::RestartPolicy& policy, Random& random) {
  if (policy.ladder == model::RestartLadder::squares) {
    return bounded(std::chrono::seconds(std::llround(current_s)));
  }
  const auto low = static_cast<std::int64_t>(std::floor(-0.1 * current_s));
  const auto high = static_cast<std::int64_t>(std::ceil(0.1 * current_s));
  const std::int64_t delay = std::llround(current_s) + random.between(low, high);
  return bounded(std::chrono::seconds(delay));
}

// One more rung. Written so that a backoff of infinity, or none that is a number, means the
// maximum.
double climb(double current_s, const model::RestartPolicy& policy) {
  const double max = max_s(policy);
  if (policy.ladder == model::RestartLadder::squares) {
    const double root = std::round(std::sqrt(current_s)) + 1;
    return std::min(max, root * root);
  }
  const double next = policy.backoff * std::max(1.0, current_s);
  return next < max ? next : max;
}

Duration spacing(unsigned spaced, const model::RestartPolicy& policy) {
  const Duration max = std::max(bounded(policy.delay_max), kRestartSpacingMin);
  constexpr unsigned kDoublingsMax = 28;  // 2^28 s is 8.5 years
  return std::min(max, kRestartSpacingMin * (std::int64_t{1} << std::min(spaced, kDoublingsMax)));
}

}  // namespace

Backoff fresh_backoff(const model::RestartPolicy& policy) {
  Backoff backoff;
  backoff.current_s = initial_s(policy);
  return backoff;
}

Backoff reset_ladder(Backoff backoff, const model::RestartPolicy& policy) {
  backoff.current_s = initial_s(policy);
  return backoff;
}

Backoff clamp_ladder(Backoff backoff, const model::RestartPolicy& policy) {
  backoff.current_s = std::clamp(backoff.current_s, initial_s(policy), max_s(policy));
  return backoff;
}

Backoff note_start(Backoff backoff, Instant now) {
  backoff.last_start = now;
  return backoff;
}

Backoff earn_credit(Backoff backoff, Instant now) {
  // Compared before it is added: a process may have run for longer than a sum could hold.
  const Duration ran = since_start(backoff, now);
  const Duration room = kRestartCreditMax - backoff.credit;
  backoff.credit = ran < room ? backoff.credit + ran : kRestartCreditMax;
  return backoff;
}

RestartDelay next_restart(Backoff backoff, ExitClass end, const model::RestartPolicy& policy,
                          Instant now, Random& random) {
  if (since_start(backoff, now) >= bounded(policy.reset_interval)) {
    backoff.current_s = initial_s(policy);
  }
  Duration delay = with_jitter(backoff.current_s, policy, random);
  const bool counts = end == ExitClass::failure || policy.ladder == model::RestartLadder::factor;
  if (counts) backoff.current_s = climb(backoff.current_s, policy);
  if (end == ExitClass::clean) delay = Duration::zero();

  backoff = earn_credit(backoff, now);
  if (delay >= kRestartSpacingMin) return {backoff, delay, false};
  if (backoff.credit >= kRestartCost) {
    backoff.credit -= kRestartCost;
    backoff.spaced = 0;
    return {backoff, delay, false};
  }
  const Duration wait = spacing(backoff.spaced, policy) - since_start(backoff, now);
  ++backoff.spaced;
  if (wait <= delay) return {backoff, delay, false};
  return {backoff, wait, true};
}

}  // namespace fdbpack::supervise
