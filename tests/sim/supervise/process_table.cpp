// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/supervise/process_table.hpp"

#include "fdbpack/base/check.hpp"

#include <algorithm>

namespace fdbpack::supervise::sim {

int ProcessTable::take_pid() {
  for (;;) {  // at most a dozen of 32 are ours
    const auto pid = static_cast<std::size_t>(random_.between(2, kPids - 1));
    if (used_[pid]) continue;
    strangers_[pid] = false;  // the kernel had it free a moment ago
    used_[pid] = true;
    return static_cast<int>(pid);
  }
}

void ProcessTable::shuffle_strangers() {
  for (std::size_t pid = 2; pid < kPids; ++pid) {
    strangers_[pid] = !used_[pid] && random_.chance(0.3);
  }
}

SimProcess& ProcessTable::spawn(int id, const Revision& revision, Instant now) {
  std::erase_if(processes_, [](const SimProcess& p) {
    return !p.is_alive && !p.group_lives && p.is_reaped && !p.is_watched;
  });
  SimProcess process;
  process.serial = ++last_serial_;
  process.pid = take_pid();
  process.id = id;
  process.revision = revision;
  process.since = now;
  processes_.push_back(process);
  FDBPACK_CHECK(processes_.size() < 32);
  return processes_.back();
}

void ProcessTable::reap(SimProcess& process) {
  process.is_reaped = true;
  // The name of a group stays taken while it has members.
  if (!process.group_lives) used_[static_cast<std::size_t>(process.pid)] = false;
}

bool ProcessTable::signal(SimProcess& process, int signal, Instant now) {
  if (!process.is_alive && !process.group_lives) return false;
  const bool is_kill = signal == SIGKILL;
  if (process.group_lives && is_kill) {
    process.group_dies_at =
        std::min(process.group_dies_at, now + std::chrono::milliseconds(random_.between(0, 30)));
  }
  if (!process.is_alive) return true;
  if (signal == SIGCONT) {
    process.is_stopped = false;
    if (process.has_term_pending) return this->signal(process, SIGTERM, now);
    return true;
  }
  if (signal == SIGTERM && process.ignores_term) return true;
  if (signal == SIGTERM && process.is_stopped) {
    process.has_term_pending = true;
    return true;
  }
  // Most die at once, some take their time to flush.
  Duration slow{};
  if (!is_kill && random_.chance(0.3)) slow = std::chrono::milliseconds(random_.between(1, 15'000));
  exit_at(process, now + slow, Signalled{signal, false});
  return true;
}

void ProcessTable::exit_at(SimProcess& process, Instant at, const Exit& exit) {
  const Instant when = std::max(at, process.unkillable_until);
  if (when >= process.dies_at) return;
  process.dies_at = when;
  process.exit = exit;
}

Instant ProcessTable::next_death() const {
  Instant next = kNever;
  for (const SimProcess& process : processes_) {
    if (process.is_alive) next = std::min(next, process.dies_at);
    if (process.group_lives) next = std::min(next, process.group_dies_at);
  }
  return next;
}

void ProcessTable::advance(Instant now) {
  for (SimProcess& process : processes_) {
    if (process.is_alive && process.dies_at <= now) {
      process.is_alive = false;
      process.group_lives = process.leaves_group;
    }
    if (process.group_lives && !process.is_alive && process.group_dies_at <= now) {
      process.group_lives = false;
      if (process.is_reaped) used_[static_cast<std::size_t>(process.pid)] = false;
    }
  }
}

SimProcess* ProcessTable::find(std::uint64_t serial) {
  for (SimProcess& process : processes_) {
    if (process.serial == serial) return &process;
  }
  return nullptr;
}

int ProcessTable::count_living(int id) const {
  return static_cast<int>(
      std::count_if(processes_.begin(), processes_.end(), [id](const SimProcess& process) {
        return process.id == id && (process.is_alive || process.group_lives);
      }));
}

}  // namespace fdbpack::supervise::sim
