// SPDX-License-Identifier: Apache-2.0
//
// Seeds of property tests. A failure prints its seed, and FDBPACK_SEED=<seed> replays that one
// alone:
//
//   for (const auto seed : support::seeds(500)) {
//     FDBPACK_TRACE_SEED(seed);
//     Random random(seed);
#pragma once

#include "fdbpack/base/text.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace fdbpack::support {

inline std::vector<std::uint64_t> seeds(std::size_t count) {
  if (const char* given = std::getenv("FDBPACK_SEED")) {
    if (const auto seed = text::parse_decimal(given)) return {*seed};
  }
  std::vector<std::uint64_t> result(count);
  std::iota(result.begin(), result.end(), std::uint64_t{1});
  return result;
}

}  // namespace fdbpack::support

#define FDBPACK_TRACE_SEED(seed) \
  SCOPED_TRACE(testing::Message() << "replay with FDBPACK_SEED=" << (seed))
