// SPDX-License-Identifier: Apache-2.0
//
// Looks at disks on a thread that may hang without harm.
//
//   read() ──> round: one thread walks the requests ──> result, posted to the agent's thread
//                └─ no answer from one directory within the patience: it is reported as dead, its
//                   thread is left behind, and a new one does the rest
//
// Threads live as long as a round, run only when nobody else wants the processor, and take no
// signals. A directory whose thread hangs is not asked again until that thread has come back, so
// there are never more of them than directories that hang, and never more than kHangingMax.
#pragma once

#include "ports/clock.hpp"
#include "ports/disk_gauge.hpp"

#include <boost/asio/io_context.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace fdbpack::posix {

class ThreadedDiskGauge final : public ports::DiskGauge {
 public:
  static constexpr auto kPatience = std::chrono::seconds(5);
  static constexpr std::size_t kHangingMax = 8;
  static constexpr std::size_t kFilesMax = 50'000;  // that are counted below one directory

  using Look = std::function<ports::DiskReading(const ports::DiskRequest&)>;

  // `look` does one request and may block; a test gives its own.
  ThreadedDiskGauge(boost::asio::io_context& io, ports::Clock& clock, Look look = {},
                    Duration patience = kPatience);
  ~ThreadedDiskGauge() override;

  [[nodiscard]] bool read(std::vector<ports::DiskRequest> requests,
                          std::function<void(std::vector<ports::DiskReading>)> on_done) override;

 private:
  struct Shared;
  struct Round;
  void go_on();
  void on_step(const std::shared_ptr<Round>& round);
  void on_patience_over();
  void finish();

  boost::asio::io_context& io_;
  Look look_;
  Duration patience_;
  ports::Clock& clock_;
  std::shared_ptr<Shared> shared_;  // outlives us in threads that hang
  std::vector<ports::DiskRequest> requests_;
  std::vector<ports::DiskReading> readings_;
  std::function<void(std::vector<ports::DiskReading>)> on_done_;  // none: nothing is asked
  std::shared_ptr<Round> round_;  // the thread at work; none: there is none
  std::unique_ptr<ports::Alarm> alarm_;
};

// What statfs and the files below `request.path` say. Blocks.
[[nodiscard]] ports::DiskReading look_at_disk(const ports::DiskRequest& request);

}  // namespace fdbpack::posix
