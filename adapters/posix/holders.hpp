// SPDX-License-Identifier: Apache-2.0
//
// Holders as /proc shows them. The data directory itself is never read: its disk may hang.
//
//   port        net/tcp, net/tcp6: a LISTEN line  ->  inode  ->  PID/fd/N is "socket:[inode]"
//   directory   locks: pids  ->  PID/fd/N is a file in the directory  ->  PID/fdinfo/N has a lock
#pragma once

#include "ports/holders.hpp"

#include <utility>

namespace fdbpack::posix {

class ProcHolders final : public ports::Holders {
 public:
  explicit ProcHolders(std::string root = "/proc") : root_(std::move(root)) {}

  [[nodiscard]] std::unique_ptr<ports::HolderSearch> search(ports::Wanted wanted) const override;

 private:
  std::string root_;
};

}  // namespace fdbpack::posix
