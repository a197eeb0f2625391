// SPDX-License-Identifier: Apache-2.0
//
// Processes that are stopped (SIGSTOP, a debugger) live and serve nobody. They are reported and not
// touched: whoever stopped them may have a reason.
#include "agent/supervisor.hpp"

namespace fdbpack::agent {

void Supervisor::note_stops() {
  for (const ports::StopChange& change : world_.launcher.stop_changes()) {
    for (const auto& [section, who] : processes_) {
      if (!who->child || who->child->pid() != change.pid) continue;
      who->stopped_pid = change.is_stopped ? change.pid : 0;
      const std::string process = "Process " + std::to_string(change.pid);
      world_.log.write(
          change.is_stopped ? supervise::Severity::warning_always : supervise::Severity::info,
          section, process + (change.is_stopped ? " is stopped" : " goes on"));
      on_change_();
    }
  }
}

}  // namespace fdbpack::agent
