// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/conditions/condition.hpp"

#include <algorithm>
#include <set>

namespace fdbpack::conditions {
namespace {

// A restart at once is no missing process.
std::chrono::milliseconds onset_of(Type type) {
  return type == Type::missing_processes ? std::chrono::seconds(15) : std::chrono::seconds(0);
}

}  // namespace

bool ConditionBook::take(const std::vector<Observation>& seen, WallTime now) {
  bool is_changed = false;
  std::set<Key> keys;
  for (const Observation& one : seen) {
    const Key key{one.type, one.process};
    keys.insert(key);
    auto [at, is_new] = entries_.try_emplace(key);
    Entry& entry = at->second;
    Condition& condition = entry.condition;
    if (is_new) {
      condition = {one.type, one.process, now, now, one.reason, false, 0};
      entry.is_candidate = true;
    }
    condition.first_seen = std::min(condition.first_seen, now);  // the calendar may be set back
    const bool begins = entry.is_candidate ? now - condition.first_seen >= onset_of(one.type)
                                           : !condition.is_active;
    if (begins) {
      entry.is_candidate = false;
      condition.is_active = true;
      ++condition.times;
    }
    const bool is_due = condition.is_active &&
                        (now - condition.last_seen >= kConfirmEvery || now < condition.last_seen);
    const bool is_told = begins || is_due || condition.reason != one.reason;
    if (is_told) {
      condition.last_seen = now;
      condition.reason = one.reason;
    }
    is_changed |= is_told && !entry.is_candidate;
  }
  for (auto at = entries_.begin(); at != entries_.end();) {
    Entry& entry = at->second;
    if (keys.contains(at->first)) {
      ++at;
      continue;
    }
    if (entry.condition.is_active) {
      entry.condition.is_active = false;
      entry.condition.last_seen = now;
      is_changed = true;
    }
    const bool is_over = entry.is_candidate || now - entry.condition.last_seen >= kMemory;
    is_changed |= is_over && !entry.is_candidate;
    at = is_over ? entries_.erase(at) : std::next(at);
  }
  return is_changed;
}

std::optional<WallTime> ConditionBook::next_change() const {
  std::optional<WallTime> next;
  for (const auto& [key, entry] : entries_) {
    const Condition& condition = entry.condition;
    const WallTime at = entry.is_candidate ? condition.first_seen + onset_of(condition.type)
                        : condition.is_active
                            ? condition.last_seen + WallTime::duration(kConfirmEvery)
                            : condition.last_seen + WallTime::duration(kMemory);
    next = next ? std::min(*next, at) : at;
  }
  return next;
}

std::vector<Condition> ConditionBook::conditions() const {
  std::vector<Condition> result;
  for (const auto& [key, entry] : entries_) {
    if (!entry.is_candidate) result.push_back(entry.condition);
  }
  return result;
}

bool ConditionBook::is_active(Type type, std::string_view process) const {
  const auto found = entries_.find({type, std::string(process)});
  return found != entries_.end() && found->second.condition.is_active;
}

void ConditionBook::restore(const std::vector<Condition>& conditions) {
  for (const Condition& condition : conditions) {
    Entry& entry = entries_[{condition.type, condition.process}];
    entry.condition = condition;
    entry.condition.is_active = false;
    entry.is_candidate = false;
  }
}

}  // namespace fdbpack::conditions
