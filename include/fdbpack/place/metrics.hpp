// SPDX-License-Identifier: Apache-2.0
//
// How even a fleet is.
//
//   cpu, memory   population standard deviation of the used share over the hosts that can be used
//   storage       for each kind of storage unit the sample standard deviation of the free share
//   over the units of
//                 that kind; the metric is their mean. Hosts without the kind do not count.
#pragma once

#include "fdbpack/place/state.hpp"

#include <cmath>

namespace fdbpack::place {

// Sums from which a standard deviation can be had after any change of one value.
struct Deviation {
  double n = 0;
  double sum = 0;
  double squares = 0;

  void insert(double value) {
    n += 1;
    sum += value;
    squares += value * value;
  }
  void replace(double before, double after) {
    sum += after - before;
    squares += after * after - before * before;
  }
  // The sum of squared distances from the mean; rounding never makes it negative.
  [[nodiscard]] double spread() const {
    return n > 0 ? std::fmax(0.0, squares - sum * sum / n) : 0.0;
  }
  [[nodiscard]] double population() const { return n > 0 ? std::sqrt(spread() / n) : 0.0; }
  [[nodiscard]] double sample() const { return n > 1 ? std::sqrt(spread() / (n - 1)) : 0.0; }
};

struct Metrics {
  int violations =
      0;  // physical domains that carry more than one logical domain, counted once per extra domain
  double cpu = 0;
  double memory = 0;
  double storage = 0;

  [[nodiscard]] double score() const { return cpu + memory + storage; }
};

[[nodiscard]] Metrics measure(const PlacementState& state);

}  // namespace fdbpack::place
