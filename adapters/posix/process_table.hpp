// SPDX-License-Identifier: Apache-2.0
//
// Processes as /proc shows them. Who is taken over: process_search.hpp.
#pragma once

#include "adapters/posix/fd.hpp"
#include "ports/process_table.hpp"

namespace fdbpack::posix {

// What the environment of a process says about it.
struct Marks {
  bool is_readable = false;  // false: it cannot be read, or there is none (yet, or any more)
  int error_number = 0;      // why
  std::string agent;
  std::string section;
  std::string pid;
  std::optional<supervise::Revision> revision;

  [[nodiscard]] bool are_of(const std::string& agent_id, int number) const {
    return agent == agent_id && pid == std::to_string(number) && !section.empty();
  }
};

class ProcTable final : public ports::ProcessTable {
 public:
  explicit ProcTable(std::string root = "/proc") : root_(std::move(root)) {}

  [[nodiscard]] std::string boot_id() const override;
  [[nodiscard]] std::optional<ports::ProcessStamp> stamp(int pid) const override;
  [[nodiscard]] bool is_program_replaced(int pid) const override;
  [[nodiscard]] bool is_stopped(int pid) const override;
  [[nodiscard]] ports::Findings find(ports::Search search) override;
  [[nodiscard]] std::unique_ptr<ports::MemoryGauge> gauge(int pid) const override;
  std::size_t kill_escaped(const std::string& agent_id, const std::vector<int>& live) override;

  [[nodiscard]] const std::string& root() const { return root_; }
  [[nodiscard]] std::string path(int pid, const char* name) const;
  [[nodiscard]] Marks marks(int pid) const;
  // All pids; `error_number` is why there are none.
  [[nodiscard]] std::vector<int> pids(int& error_number) const;

 private:
  std::string root_;
};

}  // namespace fdbpack::posix
