// SPDX-License-Identifier: Apache-2.0
//
// What the supervisor does beside starting and stopping: records for the next agent, leftovers,
// memory.
#include "agent/live_process.hpp"
#include "agent/memory_pace.hpp"
#include "agent/supervisor.hpp"

#include <algorithm>

namespace fdbpack::agent {
namespace {

// An administrator's restart is under way: the process is to go, and to come back.
bool is_restarting(const Supervised& who) {
  if (who.state.is_held) return false;
  return who.is_restart_due ||
         supervise::describe(who.state).stop_reason == supervise::StopReason::restart;
}

}  // namespace

wire::AgentState Supervisor::snapshot() {
  wire::AgentState result;
  result.agent_id = settings_.agent_id;
  for (const auto& [section, who] : processes_) {
    const auto* process = live_process(who->state);
    const bool was_started = who->state.is_configured && who->state.starts > 0;
    if (process == nullptr && !who->state.is_held && !was_started) continue;
    wire::ProcessRecord record;
    record.section = section;
    record.is_held = who->state.is_held;
    record.kill_on_change = who->kill_on_change;
    record.starts = who->state.starts;
    record.memory_limit_bytes = who->memory_limit_bytes;
    if (process != nullptr) {
      if (!who->stamp) who->stamp = world_.processes.stamp(process->pid);
      if (who->stamp) {
        record.start_ticks = who->stamp->start_ticks;
        record.exe_device = who->stamp->exe_device;
        record.exe_inode = who->stamp->exe_inode;
      }
      record.pid = process->pid;
      record.is_restart_due = is_restarting(*who);
      record.revision = process->revision;
      record.since = process->since;
      record.joined_at = process->joined_at;
      record.is_join_unknown = who->is_join_unknown && !process->joined_at;
    }
    result.processes.push_back(std::move(record));
  }
  for (const auto& [section, starts] : held_outside_) {
    wire::ProcessRecord record;
    record.section = section;
    record.is_held = true;
    record.starts = starts;
    result.processes.push_back(std::move(record));
  }
  for (const auto& [section, held] : held_back_) {
    if (held.record) result.processes.push_back(*held.record);
  }
  return result;
}

std::vector<std::string> Supervisor::held_back() const {
  std::vector<std::string> sentences;
  for (const auto& [section, held] : held_back_) {
    sentences.push_back(section + " is not started: process " + std::to_string(held.pid) +
                        " may be it and cannot be verified");
  }
  if (!shortage_.empty()) {
    sentences.push_back("what was not found running is not started: " + shortage_);
  }
  return sentences;
}

bool Supervisor::order(const std::string& section, const supervise::Event& event) {
  const auto found = processes_.find(section);
  if (found == processes_.end()) return false;
  found->second->is_restart_due = false;  // the newest order counts
  dispatch(*found->second, event);
  return true;
}

void Supervisor::store_pidfds() {
  for (const auto& [section, who] : processes_) {
    if (!who->child || who->is_stored) continue;
    world_.notifier.unstore(section);
    world_.notifier.store(section, who->child->pidfd());
    who->is_stored = true;
  }
}

void Supervisor::sweep() {
  if (has_doubts()) return;  // whoever is not known may be a process of ours
  std::vector<int> live;
  for (const auto& [section, who] : processes_) {
    if (who->child) live.push_back(who->child->pid());
  }
  std::sort(live.begin(), live.end());
  const std::size_t count = world_.processes.kill_escaped(settings_.agent_id, live);
  if (count == 0) return;
  world_.log.write(
      supervise::Severity::warning, kLogName,
      "Killed " + std::to_string(count) + " processes that ended processes had left behind");
}

// A process that holds too much is found after the pace that its growth asks for, all that are due
// in one wake-up.
void Supervisor::watch_memory(Supervised& who) {
  who.gauge.reset();
  if (who.memory_limit_bytes == 0) return;
  who.memory_at = world_.clock.now();
  who.memory_bytes = 0;
  who.memory_next = who.memory_at + first_memory_sample(who.memory_limit_bytes);
  if (memory_alarm_at_ && *memory_alarm_at_ <= who.memory_next) return;
  memory_alarm_at_ = who.memory_next;
  memory_alarm_->set(*memory_alarm_at_);
}

void Supervisor::sample_memory() {
  const Instant now = world_.clock.now();
  std::optional<Instant> next;
  std::vector<std::pair<Supervised*, supervise::MemoryExceeded>> exceeded;
  for (const auto& [section, entry] : processes_) {
    Supervised& who = *entry;
    const auto* process = live_process(who.state);
    if (process == nullptr || who.memory_limit_bytes == 0) continue;
    if (who.memory_next <= now + kMemorySlack) {
      if (!who.gauge) who.gauge = world_.processes.gauge(process->pid);
      const auto bytes = who.gauge->resident_bytes().value_or(0);
      const MemorySample sample{bytes, who.memory_bytes, now - who.memory_at};
      who.memory_next = now + next_memory_sample(sample, who.memory_limit_bytes);
      who.memory_bytes = bytes;
      who.memory_at = now;
      if (bytes > who.memory_limit_bytes) {
        exceeded.push_back({&who, {process->pid, bytes, who.memory_limit_bytes}});
      }
    }
    next = next ? std::min(*next, who.memory_next) : who.memory_next;
  }
  memory_alarm_at_ = next;
  if (next) memory_alarm_->set(*next);
  for (auto& [who, event] : exceeded)
    dispatch(*who, event);
}

}  // namespace fdbpack::agent
