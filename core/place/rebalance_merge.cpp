// SPDX-License-Identifier: Apache-2.0
#include "rebalance_merge.hpp"

#include <algorithm>
#include <map>

namespace fdbpack::place {
namespace {

std::size_t at(Index index) {
  return static_cast<std::size_t>(index);
}

// The replacement is where the group was, and takes what the group took.
bool is_home(const PlacedGroup& group, const PlacedGroup& replacement) {
  const bool has_same_disks =
      std::equal(group.disks.begin(), group.disks.end(), replacement.disks.begin(),
                 replacement.disks.end(), [](const DiskAt& a, const DiskAt& b) {
                   return a.unit == b.unit && a.size_mib == b.size_mib;
                 });
  return group.host == replacement.host && group.cpu_milli == replacement.cpu_milli &&
         group.memory_mib == replacement.memory_mib && group.servers == replacement.servers &&
         has_same_disks;
}

}  // namespace

std::optional<std::vector<MoveStep>> merge_moves(const PlacementState& state,
                                                 const std::vector<MoveStep>& steps) {
  std::map<Index, Index>
      origins;                  // of replacements: the group that was there before the first move
  std::map<Index, Index> last;  // by that group: its last replacement
  bool has_second_moves = false;
  for (const MoveStep& step : steps) {
    for (const MovedGroup& move : step) {
      const auto before = origins.find(move.group);
      has_second_moves = has_second_moves || before != origins.end();
      const Index origin = before == origins.end() ? move.group : before->second;
      origins.emplace(move.made, origin);
      last[origin] = move.made;
    }
  }
  if (!has_second_moves) return std::nullopt;
  std::vector<MoveStep> out;
  for (const MoveStep& step : steps) {
    MoveStep merged;
    bool is_as_it_was = true;
    for (const MovedGroup& move : step) {
      const Index origin = origins.at(move.made);
      const bool is_last = last.at(origin) == move.made;
      is_as_it_was = is_as_it_was && is_last && origin == move.group;
      if (!is_last || is_home(state.groups()[at(origin)], state.groups()[at(move.made)])) continue;
      merged.push_back({origin, kNone, move.decision});
    }
    if (is_as_it_was) {
      out.push_back(std::move(merged));
      continue;
    }
    // What is left of a swap are moves of their own.
    for (MovedGroup& move : merged)
      out.push_back({std::move(move)});
  }
  std::erase_if(out, [](const MoveStep& step) { return step.empty(); });
  return out;
}

}  // namespace fdbpack::place
