// SPDX-License-Identifier: Apache-2.0
//
// What an agent knows of its processes and passes on to the agent after it. A hint: the reader
// verifies each process before it believes it. As text: wire/agent_state.hpp.
#pragma once

#include "fdbpack/base/instant.hpp"
#include "fdbpack/supervise/machine.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fdbpack::supervise {

struct ProcessRecord {
  std::string section;
  int pid = 0;  // 0: nothing lives; an administrator holds it, or it is yet to be started again
  std::uint64_t start_ticks = 0;
  std::uint64_t exe_device = 0;
  std::uint64_t exe_inode = 0;
  supervise::Revision revision;
  Instant since;
  std::optional<Instant> joined_at;
  bool is_join_unknown = false;  // it may have joined before this agent took it over
  std::uint64_t starts = 1;
  std::uint64_t memory_limit_bytes = 0;
  bool kill_on_change = true;
  bool is_held = false;
  bool is_restart_due = false;  // an administrator's restart is under way

  bool operator==(const ProcessRecord&) const = default;
};

struct AgentState {
  std::string boot_id;
  std::string agent_id;
  std::vector<ProcessRecord> processes;

  bool operator==(const AgentState&) const = default;
  // Names compare without regard to ASCII case, as fdbmonitor's do.
  [[nodiscard]] const ProcessRecord* find(std::string_view section) const;
};

}  // namespace fdbpack::supervise
