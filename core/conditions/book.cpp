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

// What a look at the data directory tells, or may tell.
bool is_of_disk(Type type) {
  return type == Type::storage_full || type == Type::missing_pvc || type == Type::process_io_error;
}

}  // namespace

bool ConditionBook::see(const Observation& one, WallTime now) {
  auto [at, is_new] = entries_.try_emplace({one.type, one.process});
  Entry& entry = at->second;
  Condition& condition = entry.condition;
  if (is_new) condition = {one.type, one.process, now, now, one.reason, false, 0};
  condition.first_seen = std::min(condition.first_seen, now);  // the calendar may be set back
  bool begins = false;
  if (!condition.is_active) {
    const WallTime since = std::min(entry.candidate_since.value_or(now), now);
    begins = now - since >= onset_of(one.type);
    entry.candidate_since = since;
    if (!begins) return false;
    entry.candidate_since.reset();
    condition.is_active = true;
    ++condition.times;
  }
  const bool is_due = now - condition.last_seen >= kConfirmEvery || now < condition.last_seen;
  if (!begins && !is_due && condition.reason == one.reason) return false;
  condition.last_seen = now;
  condition.reason = one.reason;
  return true;
}

bool ConditionBook::take(const std::vector<Observation>& seen, WallTime now,
                         const std::set<std::string>& unread) {
  bool is_changed = false;
  std::set<Key> keys;
  for (const Observation& one : seen) {
    keys.insert({one.type, one.process});
    is_changed |= see(one, now);
  }
  for (auto at = entries_.begin(); at != entries_.end();) {
    Entry& entry = at->second;
    const auto& [type, process] = at->first;
    const bool is_judged = !is_of_disk(type) || !unread.contains(process);
    if (keys.contains(at->first) || (entry.condition.is_active && !is_judged)) {
      ++at;
      continue;
    }
    entry.candidate_since.reset();
    if (entry.condition.is_active) {
      entry.condition.is_active = false;
      entry.condition.last_seen = now;
      is_changed = true;
    }
    const bool is_known = entry.condition.times > 0;
    const bool is_over = !is_known || now - entry.condition.last_seen >= kMemory;
    is_changed |= is_over && is_known;
    at = is_over ? entries_.erase(at) : std::next(at);
  }
  return is_changed;
}

std::optional<WallTime> ConditionBook::next_change() const {
  std::optional<WallTime> next;
  for (const auto& [key, entry] : entries_) {
    const Condition& condition = entry.condition;
    const WallTime at = entry.candidate_since ? *entry.candidate_since + onset_of(condition.type)
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
    if (entry.condition.times > 0) result.push_back(entry.condition);
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
    entry.condition.times = std::max<std::uint64_t>(condition.times, 1);
    entry.candidate_since.reset();
  }
}

}  // namespace fdbpack::conditions
