// SPDX-License-Identifier: Apache-2.0
//
// What the program does to itself before it supervises anything, and how it replaces itself. Used
// by main.cpp only.
#pragma once

#include "adapters/posix/fd.hpp"
#include "fdbpack/wire/handover.hpp"
#include "ports/launcher.hpp"

#include <optional>
#include <string>
#include <vector>

namespace fdbpack::posix {

// Raises the limit on descriptors as far as it goes. Returns what it was, for the children.
[[nodiscard]] std::vector<ports::ResourceLimit> raise_limits();

// Orphans come to us; a log without reader is an error, not an end; nothing that we inherited is
// inherited further. The signals that the agent acts on are held back, whatever our parent did with
// them, until hear_signals().
void become_supervisor();
// Call when there are handlers.
void hear_signals();

// The parent waits until the child says that it is ready or has failed, and ends with its code.
class Daemon {
 public:
  // Returns in the child only.
  static Daemon start();
  // Tells the parent; the second time does nothing.
  void report(int exit_code);

 private:
  UniqueFd to_parent_;
};

[[nodiscard]] std::vector<std::string> own_environment();

// Replaces the program by the one that is now at its path, with the same arguments. Returns only
// when that fails, with the reason; everything is then as before.
[[nodiscard]] Error replace_program(const wire::Handover& handover, const std::string& program,
                                    const std::vector<std::string>& arguments,
                                    const std::vector<std::string>& environment);

// The path of this program; when it was replaced on disk, of what is there now.
[[nodiscard]] std::string program_path();

}  // namespace fdbpack::posix
