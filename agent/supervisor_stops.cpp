// SPDX-License-Identifier: Apache-2.0
//
// Processes that are stopped (SIGSTOP, a debugger) live and serve nobody. They are reported and not
// touched: whoever stopped them may have a reason.
#include "agent/live_process.hpp"
#include "agent/supervisor.hpp"

#include <algorithm>
#include <utility>

namespace fdbpack::agent {
namespace {

// Between two looks at the same process: longer the more there are, so that looking costs the same.
constexpr auto kLookEvery = std::chrono::seconds(10);
constexpr auto kLookEachIn = std::chrono::seconds(1);

}  // namespace

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

void Supervisor::look_for_stops() {
  is_stops_alarm_set_ = false;
  int count = 0;
  for (const auto& [section, who] : processes_) {
    const auto* process = live_process(who->state);
    if (process == nullptr || !process->is_adopted) continue;
    ++count;
    set_stopped(*who, process->pid, world_.processes.is_stopped(process->pid));
  }
  if (count == 0) return;
  is_stops_alarm_set_ = true;
  stops_alarm_->set(world_.clock.now() + std::max<Duration>(kLookEvery, count * kLookEachIn));
}

}  // namespace fdbpack::agent
