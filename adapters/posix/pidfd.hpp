// SPDX-License-Identifier: Apache-2.0
//
// The system calls around a pidfd, which glibc 2.36 only has in part.
#pragma once

#include "adapters/posix/fd.hpp"
#include "fdbpack/supervise/exit.hpp"

#include <optional>

namespace fdbpack::posix {

// None: errno says why. ESRCH, or EINVAL and ENOENT where it is a thread's: there is no such
// process.
[[nodiscard]] UniqueFd open_pidfd(int pid);

// The process has ended, whether or not its parent has reaped it.
[[nodiscard]] bool has_ended(int pidfd);

// 0, or the errno.
[[nodiscard]] int pidfd_signal(int pidfd, int signal);
// To the process group of the process. Before Linux 6.9 by kill(2), if the process still lives.
[[nodiscard]] int pidfd_signal_group(int pidfd, int pid, int signal);

// Somebody of the process group lives who is more than a zombie. Looks through all of /proc; true
// when that cannot be done.
[[nodiscard]] bool group_has_living_member(int pgid);

// The pid behind the descriptor, from /proc/self/fdinfo. None: errno says why, ESRCH when it is
// gone or no pidfd.
[[nodiscard]] std::optional<int> pid_of_pidfd(int pidfd);

enum class Reaped {
  ended,       // `exit` holds how
  alive,       // not yet
  not_reaped,  // it is not our child, and its parent has not reaped it yet
};

struct ReapOutcome {
  Reaped what = Reaped::alive;
  supervise::Exit exit;
};

// How the process ended. A child of ours is reaped by this. Of others it is read from /proc while
// their parent has not reaped them, and asked of the kernel (Linux 6.15) afterwards; else it is an
// UnknownEnd.
[[nodiscard]] ReapOutcome reap_pidfd(int pidfd, int pid);

}  // namespace fdbpack::posix
