// SPDX-License-Identifier: Apache-2.0
//
// One new process, from the agent's point of view in one call.
//
//   parent                         child (shares the parent's memory until it executes)
//   ------                         ------------------------------------------------------------
//   block all signals
//   slots = stdin, stdout, stderr
//   clone ---------------------->  own descriptor table holding 0-2, the slots and the lock
//   (stopped)                      signals to default, own process group, limits, umask
//                                  slots to 0-2, everything else close-on-exec
//                                  groups, group, user, death signal, working directory
//                                  empty signal mask
//   goes on  <------------------   execve, or the errno and the step into shared memory
//
// The agent's memory is never copied (CLONE_VM and CLONE_VFORK), nor is its descriptor table, which
// grows with the number of processes (CLONE_FILES, then CLOSE_RANGE_UNSHARE). Because memory is
// shared an error needs no pipe: the parent reads it when it goes on. Until it executes the child
// holds the agent's lock (`keep_fd`), so that an agent that takes over after a crash can see every
// process there is.
//
// An execve that hangs, on a dead network filesystem, holds up the parent. That is the price of not
// copying memory; commands belong on local disks, and a conf that names another is warned about.
#pragma once

#include "adapters/posix/fd.hpp"
#include "ports/launcher.hpp"

#include <cstddef>
#include <memory>
#include <variant>

namespace fdbpack::posix {

struct Spawned {
  int pid = 0;
  UniqueFd pidfd;
};

class Spawner {
 public:
  // `keep_fd` stays open in the child until it executes; -1: nothing does.
  explicit Spawner(int keep_fd = -1);
  ~Spawner();
  Spawner(const Spawner&) = delete;
  Spawner& operator=(const Spawner&) = delete;

  [[nodiscard]] std::variant<Spawned, ports::LaunchError> spawn(const ports::LaunchPlan& plan);

 private:
  static constexpr std::size_t kStackBytes = 64 * 1024;

  int keep_fd_ = -1;
  // Low numbers, taken once, that hold the child's 0-2 during a clone.
  UniqueFd null_;
  UniqueFd slot_out_;
  UniqueFd slot_err_;
  std::unique_ptr<std::byte[]> stack_;
};

}  // namespace fdbpack::posix
