// SPDX-License-Identifier: Apache-2.0
//
// How many instances fit an htools cluster, and where one more goes: hspace's standard and tiered
// modes and hail's allocate, for instances on one node and without the check that every
// node could be emptied.
//
// Instances of one specification are alike, so what fits is the sum over the nodes, whatever the
// order.
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/place/htools/cluster.hpp"
#include "fdbpack/place/htools/score.hpp"

#include <map>
#include <string>
#include <vector>

namespace fdbpack::place::htools {

// Why a node cannot take an instance, in the words of the reference programs.
enum class Lack { memory, disk, cpu, tags, disk_count, spindles, offline };
[[nodiscard]] std::string_view to_string(Lack lack);

// More than this is not counted but refused: such a specification is a slip of the pen.
inline constexpr std::int64_t kForecastMax = 10'000'000;

struct Forecast {
  std::int64_t instances = 0;
  // A node could not take over what it keeps memory for: nothing is added, as in hspace.
  bool fails_n1 = false;
  std::map<Lack, int> lacks;  // why each online node is full in the end
};
// Of the cluster policy's standard specification, on the first template that the policy allows.
[[nodiscard]] Result<Forecast> forecast(const Cluster& cluster);

// So many instances of one size.
struct Tier {
  Spec spec;  // memory, vcpus, disk and spindle_use
  std::int64_t instances = 0;
};
// hspace's tiered mode: from the largest specification of each range of the policy downwards. When
// no node takes one more, the resource that most nodes lack is made smaller (64 MiB of memory, 256
// MiB of disk, one CPU, one spindle), as long as that helps. Nothing when a node fails N+1. Work is
// bounded: what takes more than some ten millions of looks at nodes is refused.
[[nodiscard]] Result<std::vector<Tier>> forecast_tiered(const Cluster& cluster);

// An instance of the specification, on the first template that the cluster's policy allows. Refused
// are sizes that cannot be counted with: no memory, below 0, beyond 10^15.
[[nodiscard]] Result<Instance> instance_of(const Cluster& cluster, const Spec& spec);
// An online node could not take over what it keeps memory for.
[[nodiscard]] bool fails_n1(const Cluster& cluster, const std::vector<NodeLoad>& loads);

struct NodeRefusal {
  std::int32_t node = kNoNode;
  Lack lack = Lack::memory;
  std::string reason;  // with its numbers
};

struct Allocation {
  std::int32_t node = kNoNode;  // kNoNode: none can take it
  double score = 0;             // of the cluster afterwards
  std::int32_t runner_up = kNoNode;
  double runner_up_score = 0;
  std::vector<NodeRefusal> refused;
};
// `wanted` needs no nodes yet. Each of its disks must fit one storage unit where nodes list them.
[[nodiscard]] Result<Allocation> allocate(const Cluster& cluster, const Instance& wanted);

}  // namespace fdbpack::place::htools
