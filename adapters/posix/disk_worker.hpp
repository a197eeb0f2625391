// SPDX-License-Identifier: Apache-2.0
//
// The process that looks at disks. It may hang in the kernel, where not even SIGKILL reaches it, so
// it has nothing that anybody could miss: no lock, no port, no descriptor but its end of a socket.
//
//   agent  ──[ requests: one message, several directories ]──>  worker
//          <──[ reading: one message for each, in that order ]──
//
// It ends when the other end of the socket closes, and when the agent ends.
#pragma once

#include "adapters/posix/fd.hpp"
#include "ports/disk_gauge.hpp"

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace fdbpack::posix {

// Does one request and may block.
using DiskLook = std::function<ports::DiskReading(const ports::DiskRequest&)>;

struct DiskWorker {
  int pid = 0;  // a child of ours, to be reaped
  UniqueFd pidfd;
  UniqueFd socket;  // does not block, is closed on exec
};

// Forks: the child runs `look` and never returns from here.
[[nodiscard]] Result<DiskWorker> fork_disk_worker(const DiskLook& look);

// Sends as many of the requests as one message takes. How many that were; none: errno says why.
[[nodiscard]] std::size_t send_requests(int socket, const std::deque<ports::DiskRequest>& requests);

enum class Received {
  reading,
  nothing,  // yet
  end,      // the worker is gone
};

// The next reading, without its path.
[[nodiscard]] Received receive_reading(int socket, ports::DiskReading& reading);

// What statfs and the files below `request.path` say. Blocks.
[[nodiscard]] ports::DiskReading look_at_disk(const ports::DiskRequest& request);

}  // namespace fdbpack::posix
