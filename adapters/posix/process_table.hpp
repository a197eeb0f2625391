// SPDX-License-Identifier: Apache-2.0
//
// Processes as /proc shows them.
//
// Who is taken over:
//
//   handed      came as a pidfd from the service manager or over a re-exec: it is the process
//   recorded    the state file of this boot names pid and start time, and both still fit; where its
//               environment can be read the markers must fit, too
//   marked      found by looking through /proc: its markers name this agent, a section and itself,
//               it belongs to a user of ours, and it is in our pid namespace
//
// A recorded pid that lives but of which nothing can be read (hidepid) is reported as unverified:
// it is not signalled, and its section is not started while it lives.
#pragma once

#include "adapters/posix/fd.hpp"
#include "ports/process_table.hpp"

namespace fdbpack::posix {

class ProcTable final : public ports::ProcessTable {
 public:
  explicit ProcTable(std::string root = "/proc") : root_(std::move(root)) {}

  [[nodiscard]] std::string boot_id() const override;
  [[nodiscard]] std::optional<ports::ProcessStamp> stamp(int pid) const override;
  [[nodiscard]] bool is_program_replaced(int pid) const override;
  [[nodiscard]] ports::Findings find(const std::string& agent_id,
                                     const supervise::AgentState& recorded, std::vector<int> handed,
                                     const std::vector<std::uint32_t>& uids) override;
  [[nodiscard]] std::unique_ptr<ports::MemoryGauge> gauge(int pid) const override;
  std::size_t kill_escaped(const std::string& agent_id, const std::vector<int>& live) override;

 private:
  struct Marks {
    std::string agent;
    std::string section;
    std::string pid;
    std::optional<supervise::Revision> revision;
  };

  [[nodiscard]] std::string path(int pid, const char* name) const;
  [[nodiscard]] std::optional<Marks> marks(int pid) const;
  [[nodiscard]] std::vector<int> pids() const;
  void find_recorded(const std::string& agent_id, const supervise::ProcessRecord& record,
                     ports::Findings& findings) const;
  void find_marked(const std::string& agent_id, int pid, const std::vector<std::uint32_t>& uids,
                   const supervise::AgentState& recorded, ports::Findings& findings) const;
  void find_handed(const std::string& agent_id, int pidfd, const supervise::AgentState& recorded,
                   ports::Findings& findings) const;

  std::string root_;
};

}  // namespace fdbpack::posix
