// SPDX-License-Identifier: Apache-2.0
//
// When to look again at how much memory a process holds. Looking costs; a process far below its
// limit that does not grow is looked at once a minute, one near it every two seconds.
//
// Two bounds on growth are used: what it grew since the last look, four times over, and half a
// gigabyte per second, which is more than a database process grows in practice; the second is
// relaxed with every look that finds it quiet.
#pragma once

#include "fdbpack/base/instant.hpp"

#include <algorithm>
#include <cstdint>

namespace fdbpack::agent {

inline constexpr Duration kMemoryPaceMin = std::chrono::seconds(2);
inline constexpr Duration kMemoryPaceMax = std::chrono::seconds(60);
// Those that are due within this time are looked at in the same wake-up.
inline constexpr Duration kMemorySlack = std::chrono::milliseconds(500);
inline constexpr std::uint64_t kMemoryGrowthBytesMax = std::uint64_t{512} << 20;  // per second

struct MemorySample {
  std::uint64_t bytes = 0;
  std::uint64_t bytes_before = 0;
  Duration since_before{};
};

[[nodiscard]] inline Duration paced(double seconds) {
  const double bounded = std::clamp(seconds, 2.0, 60.0);
  return std::chrono::milliseconds(static_cast<std::int64_t>(bounded * 1000));
}

[[nodiscard]] inline Duration first_memory_sample(std::uint64_t limit_bytes) {
  return paced(static_cast<double>(limit_bytes) / static_cast<double>(kMemoryGrowthBytesMax));
}

[[nodiscard]] inline Duration next_memory_sample(const MemorySample& sample,
                                                 std::uint64_t limit_bytes) {
  if (sample.bytes >= limit_bytes) return kMemoryPaceMin;
  const auto headroom = static_cast<double>(limit_bytes - sample.bytes);
  const double elapsed = std::max(std::chrono::duration<double>(sample.since_before).count(), 0.1);
  const double grown = sample.bytes > sample.bytes_before
                           ? static_cast<double>(sample.bytes - sample.bytes_before)
                           : 0.0;
  const double by_growth = grown > 0 ? headroom / (4 * grown / elapsed) : 60.0;
  const double by_bound = headroom / static_cast<double>(kMemoryGrowthBytesMax);
  return paced(std::min(by_growth, std::max(by_bound, 2 * elapsed)));
}

}  // namespace fdbpack::agent
