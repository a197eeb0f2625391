// SPDX-License-Identifier: Apache-2.0
//
// What is open when the program starts.
//
//   0 1 2                  taken, by /dev/null where nothing is there
//   the service manager's  3, 4, ... if LISTEN_PID names us: kept for systemd::take_stored_fds()
//   the handover's         left by the former program of this process (SIGUSR2)
//   all others             came by accident and are closed
//
// A handover that cannot be read, because the two programs do not understand each other or memory
// ran out, must not cost the processes: the lock and the pidfds are recognised by what they are,
// and the rest is found as after a crash.
#pragma once

#include "fdbpack/wire/handover.hpp"

#include <optional>
#include <string>
#include <vector>

namespace fdbpack::posix {

inline constexpr const char* kHandoverVariable = "FDBPACK_HANDOVER_FD";

struct InheritedFds {
  bool is_replacement = false;  // this process ran another program of ours before
  std::optional<wire::Handover> handover;
  // Of a handover that cannot be read:
  std::string problem;
  int lock_fd = -1;
  std::vector<int> pidfds;
};

// Call before anything is opened. `lock_path` is absolute.
[[nodiscard]] InheritedFds take_inherited_fds(const std::string& lock_path);

// Every descriptor that a handover names.
[[nodiscard]] std::vector<int> descriptors(const wire::Handover& handover);
// Whether the next program gets it.
void set_inherited(const std::vector<int>& fds, bool is_inherited);

}  // namespace fdbpack::posix
