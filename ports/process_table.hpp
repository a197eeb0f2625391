// SPDX-License-Identifier: Apache-2.0
//
// Finding the processes that an earlier agent left running, and what can be seen of live ones.
//
// A process of ours carries four variables in its environment: FDBPACK_AGENT_ID (which agent's),
// FDBPACK_PROCESS (which section), FDBPACK_REVISION (what it was started with) and FDBPACK_PID (its
// own pid, so that its descendants, which inherit all four, are not taken for it).
#pragma once

#include "fdbpack/supervise/agent_record.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fdbpack::ports {

inline constexpr std::string_view kMarkerAgent = "FDBPACK_AGENT_ID";
inline constexpr std::string_view kMarkerProcess = "FDBPACK_PROCESS";
inline constexpr std::string_view kMarkerRevision = "FDBPACK_REVISION";
inline constexpr std::string_view kMarkerPid = "FDBPACK_PID";

struct Found {
  std::string section;
  int pid = 0;
  int pidfd = -1;  // the receiver's to close or hand on; -1: unverified, and not even this was had
  std::uint64_t start_ticks = 0;
  bool was_recorded = false;                    // the state file knew it, too
  std::optional<supervise::Revision> revision;  // by its marks
};

// What a pid means in this boot of this machine.
struct ProcessStamp {
  std::uint64_t start_ticks = 0;  // field 22 of /proc/PID/stat
  std::uint64_t exe_device = 0;
  std::uint64_t exe_inode = 0;
};

struct Search {
  std::string agent_id;
  supervise::AgentState recorded;
  // Descriptors of processes that the service manager kept for us, or that came over a re-exec.
  // They are taken over.
  std::vector<int> handed;
  std::vector<std::uint32_t> uids;  // owners that are ours
  std::vector<int> known;           // supervised already: passed over
};

struct Findings {
  std::vector<Found> found;        // at most one for each section, verified
  std::vector<Found> unverified;   // may be the section's process: nothing may be started beside it
  std::vector<std::string> notes;  // what was looked at and refused, and why
  // Why not everything could be looked at: anybody who was not found may live all the same.
  std::string shortage;  // empty: everything was
};

// Shows how much memory one process holds.
class MemoryGauge {
 public:
  virtual ~MemoryGauge() = default;
  // None when it cannot be read: the process is gone.
  [[nodiscard]] virtual std::optional<std::uint64_t> resident_bytes() = 0;
};

class ProcessTable {
 public:
  virtual ~ProcessTable() = default;

  [[nodiscard]] virtual std::string boot_id() const = 0;
  [[nodiscard]] virtual std::optional<ProcessStamp> stamp(int pid) const = 0;
  // The file that the process runs is not at its path any more: a new version was installed.
  [[nodiscard]] virtual bool is_program_replaced(int pid) const = 0;
  // It was stopped: by SIGSTOP, or by a debugger.
  [[nodiscard]] virtual bool is_stopped(int pid) const = 0;
  // Every descriptor is opened first and verified after, so that a pid that is used anew meanwhile
  // cannot be mistaken.
  [[nodiscard]] virtual Findings find(Search search) = 0;
  // Never null; of a process that is gone it shows nothing.
  [[nodiscard]] virtual std::unique_ptr<MemoryGauge> gauge(int pid) const = 0;
  // SIGKILL to what was started below a process of this agent that is gone, left its process group
  // and was handed to us. `live` are the processes that are not gone, in order. Returns how many.
  virtual std::size_t kill_escaped(const std::string& agent_id, const std::vector<int>& live) = 0;
};

}  // namespace fdbpack::ports
