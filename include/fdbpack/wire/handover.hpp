// SPDX-License-Identifier: Apache-2.0
//
// What an agent leaves to the program that replaces it in the same process: descriptors, by number,
// and the state it would otherwise find on disk.
#pragma once

#include "fdbpack/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fdbpack::wire {

struct HandedProcess {
  std::string section;
  int pidfd = -1;
  int out = -1;  // -1: its output is not read
  int err = -1;
  bool operator==(const HandedProcess&) const = default;
};

struct Handover {
  int lock_fd = -1;
  std::uint64_t files_max = 0;  // the soft limit on descriptors that children are to have
  std::vector<HandedProcess> processes;
  std::string state;  // wire::print(AgentState)
  bool operator==(const Handover&) const = default;
};

[[nodiscard]] std::string print(const Handover& handover);
[[nodiscard]] Result<Handover> parse_handover(std::string_view text);

}  // namespace fdbpack::wire
