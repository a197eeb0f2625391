// SPDX-License-Identifier: Apache-2.0
//
// Who is taken over from an earlier agent:
//
//   handed      came as a pidfd from the service manager or over a re-exec: it is the process
//   recorded    the state file of this boot names pid and start time, and both still fit. Its marks
//               must fit, too; where they cannot be read, the file that it executes must be the one
//               that was recorded when it was started (not the one that is at its path by now)
//   marked      found by looking through /proc: its marks name this agent, a section and itself, it
//               belongs to a user of ours, and it is in our pid namespace
//
// Unverified is a process that may be the one, when nothing of it can be read (hidepid), when it
// executes another file and shows no marks, or when there is no descriptor left to hold it by. It
// is not signalled, and its section is not started meanwhile. Only what the kernel says to be gone
// is gone: an error of any other kind is no answer.
#pragma once

#include "adapters/posix/process_table.hpp"

namespace fdbpack::posix {

class ProcessSearch {
 public:
  ProcessSearch(const ProcTable& table, ports::Search search)
      : table_(table), search_(std::move(search)) {}

  [[nodiscard]] ports::Findings run();

 private:
  enum class Proof { ours, foreign, none, doubtful };

  void take_handed(int fd);
  void look_at_recorded(const supervise::ProcessRecord& record);
  [[nodiscard]] Proof prove(const supervise::ProcessRecord& record,
                            const ports::ProcessStamp& stamp);
  void look_at_marked(int pid);
  [[nodiscard]] const ports::Found* found(std::string_view section) const;
  void drop(int pid);
  [[nodiscard]] bool is_known(int pid) const;
  [[nodiscard]] bool is_doubted(int pid) const;
  void lack(int error_number);

  const ProcTable& table_;
  ports::Search search_;
  ports::Findings findings_;
};

}  // namespace fdbpack::posix
