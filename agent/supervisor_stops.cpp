// SPDX-License-Identifier: Apache-2.0
//
// Processes that are stopped (SIGSTOP, a debugger) live and serve nobody. They are reported and not
// touched: whoever stopped them may have a reason. So are those whose program was replaced. The
// time between two looks at the same process is longer the more there are, so that looking costs
// the same.
#include "agent/live_process.hpp"
#include "agent/supervisor.hpp"

#include <algorithm>
#include <utility>

namespace fdbpack::agent {

void Supervisor::set_stopped(Supervised& who, int pid, bool is_stopped) {
  const int before = std::exchange(who.stopped_pid, is_stopped ? pid : 0);
  if (before == who.stopped_pid) return;
  if (!is_stopped && before != pid) return;  // it was another one
  world_.log.write(is_stopped ? supervise::Severity::warning_always : supervise::Severity::info,
                   who.section,
                   "Process " + std::to_string(pid) + (is_stopped ? " is stopped" : " goes on"));
  on_change_();
}

void Supervisor::note_stops() {
  for (const ports::StopChange& change : world_.launcher.stop_changes()) {
    for (const auto& [section, who] : processes_) {
      if (!who->child || who->child->pid() != change.pid) continue;
      set_stopped(*who, change.pid, change.is_stopped);
    }
  }
}

void Supervisor::set_replaced(Supervised& who, int pid, bool is_replaced) {
  const bool was_replaced = who.replaced_pid == pid;
  who.replaced_pid = is_replaced ? pid : 0;
  if (was_replaced != is_replaced) on_change_();
}

void Supervisor::look_at_processes() {
  is_look_alarm_set_ = false;
  int count = 0;
  for (const auto& [section, who] : processes_) {
    const auto* process = live_process(who->state);
    if (process == nullptr) continue;
    ++count;
    const int pid = process->pid;
    if (process->is_adopted) set_stopped(*who, pid, world_.processes.is_stopped(pid));
    set_replaced(*who, pid, world_.processes.is_program_replaced(pid));
  }
  if (count == 0) return;
  is_look_alarm_set_ = true;
  const auto pace = std::max<Duration>(settings_.look_every, count * settings_.look_every / 10);
  look_alarm_->set(world_.clock.now() + pace);
}

}  // namespace fdbpack::agent
