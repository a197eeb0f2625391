// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/cluster/ledger.hpp"

#include <algorithm>

namespace fdbpack::cluster {
namespace {

template <class Map, class Changes>
void merge(Map& into, Changes&& changes) {
  for (auto& [key, value] : changes) {
    if (value) {
      into.insert_or_assign(key, *std::move(value));
    } else {
      into.erase(key);
    }
  }
}

}  // namespace

void Ledger::take(LedgerChange change) {
  for (const auto& changed : change.groups) {
    const GroupKey& key = changed.first;
    const auto before = groups_.find(key);
    if (before != groups_.end()) {
      const auto [first, last] = by_host_.equal_range(before->second.host);
      const auto entry =
          std::find_if(first, last, [&key](const auto& each) { return each.second == key; });
      if (entry != last) by_host_.erase(entry);
    }
    if (changed.second) by_host_.emplace(changed.second->host, key);
  }
  merge(clusters_, change.clusters);
  merge(groups_, change.groups);
  merge(hosts_, change.hosts);
  for (const Event& event : change.events)
    last_event_ = std::max(last_event_, event.sequence);
}

std::vector<GroupKey> Ledger::groups_on(const std::string& host) const {
  std::vector<GroupKey> keys;
  const auto [first, last] = by_host_.equal_range(host);
  for (auto at = first; at != last; ++at)
    keys.push_back(at->second);
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::vector<GroupKey> Ledger::groups_of(const std::string& cluster) const {
  std::vector<GroupKey> keys;
  const model::ProcessGroupId lowest{"", model::ProcessClass{}, 0};
  for (auto at = groups_.lower_bound({cluster, lowest});
       at != groups_.end() && at->first.first == cluster; ++at) {
    keys.push_back(at->first);
  }
  return keys;
}

}  // namespace fdbpack::cluster
