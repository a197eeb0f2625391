// SPDX-License-Identifier: Apache-2.0
//
// Processes by clone and pidfd. The end of each is heard of through its own pidfd, so nothing can
// be lost or mixed up; SIGCHLD is only needed for strangers.
//
// A process that an earlier agent started is not our child, and its real parent has to reap it
// before its end is known and its ports are free. That is waited for, a tenth of a second at most.
#pragma once

#include "adapters/posix/spawn.hpp"
#include "ports/clock.hpp"
#include "ports/launcher.hpp"

#include <boost/asio/io_context.hpp>

#include <memory>
#include <unordered_map>

namespace fdbpack::posix {

class ProcessWatch;

class PosixLauncher final : public ports::Launcher {
 public:
  // `lock_fd` is held by a child until it executes; see spawn.hpp.
  PosixLauncher(boost::asio::io_context& io, ports::Clock& clock, int lock_fd = -1);
  ~PosixLauncher() override;

  [[nodiscard]] Outcome launch(const ports::LaunchPlan& plan, ports::OnExit on_exit) override;
  [[nodiscard]] std::unique_ptr<ports::Child> adopt(int pid, int pidfd,
                                                    ports::OnExit on_exit) override;
  std::size_t reap_strangers() override;

 private:
  friend class ProcessWatch;

  std::unique_ptr<ports::Child> watch(int pid, UniqueFd pidfd, ports::OnExit on_exit);

  boost::asio::io_context& io_;
  ports::Clock& clock_;
  Spawner spawner_;
  std::unordered_map<int, std::weak_ptr<ProcessWatch>> children_;  // those not reaped yet
};

}  // namespace fdbpack::posix
