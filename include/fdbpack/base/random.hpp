// SPDX-License-Identifier: Apache-2.0
//
// A seeded generator that is passed as a value: same seed, same numbers, on every machine and
// compiler. The distributions of <random> differ between standard libraries, so the few that are
// needed are here.
#pragma once

#include "fdbpack/base/check.hpp"

#include <cstdint>

namespace fdbpack {

class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) : state_(seed) {}

  // SplitMix64: 64 bits of state, every seed is a good seed.
  constexpr std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  // Uniform in [0, bound). `bound` > 0. Values above the last whole multiple of `bound` are drawn
  // again.
  constexpr std::uint64_t below(std::uint64_t bound) {
    FDBPACK_CHECK(bound > 0);
    const std::uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
    std::uint64_t value = next();
    while (value >= limit)
      value = next();
    return value % bound;
  }

  // Uniform in [low, high], both included.
  constexpr std::int64_t between(std::int64_t low, std::int64_t high) {
    FDBPACK_CHECK(low <= high);
    const auto span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
    const std::uint64_t offset = span == UINT64_MAX ? next() : below(span + 1);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
  }

  // Uniform in [0, 1).
  constexpr double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  constexpr bool chance(double probability) { return unit() < probability; }

 private:
  std::uint64_t state_;
};

}  // namespace fdbpack
