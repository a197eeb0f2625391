// SPDX-License-Identifier: Apache-2.0
//
// Rebalances an htools cluster by hbal's score. Moved are instances that live on one node and may
// go to any other (ext, rbd, sharedfile, blockdev, gluster); mirrored pairs stay where they are.
//
// Best improvement first, like hbal, with three differences: the sums behind each deviation are
// kept, so a candidate costs the same on 10 nodes and on 10,000; on large clusters candidates are
// looked for between the hottest and the coldest nodes first and in ever wider circles only when
// nothing is found there; and when no single move helps, two instances may change places.
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/place/htools/cluster.hpp"
#include "fdbpack/place/htools/score.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fdbpack::place::htools {

struct BalanceOptions {
  std::string group;
  bool ignore_dynu = false;
  int moves_max = -1;       // -1: as many as help
  double gain_min = 0.01;   // below `gain_limit` a move must gain this much (hbal's -g)
  double gain_limit = 0.1;  // hbal's --min-gain-limit
  double swap_gain_min =
      0.001;  // changing places costs two moves and must be worth it; below 0: never
  std::int64_t candidates_max = 20'000'000;  // candidates judged beyond the first circle
  // Called after every move, for somebody who waits: moves so far, and the score.
  std::function<void(std::size_t moves, double score)> on_step{};
};

struct Move {
  std::int32_t instance = 0;
  std::int32_t from = 0;
  std::int32_t to = 0;
  double score = 0;      // afterwards
  bool is_swap = false;  // one half of a swap
};

struct BalanceResult {
  Score initial;
  Score final;
  std::vector<Move> moves;
  Cluster cluster;   // with the moves made
  int mirrored = 0;  // instances that could only be moved as a pair
  std::int64_t candidates = 0;
};
[[nodiscard]] Result<BalanceResult> balance(Cluster cluster, const BalanceOptions& options);

}  // namespace fdbpack::place::htools
