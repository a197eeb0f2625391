// SPDX-License-Identifier: Apache-2.0
//
// Looks at disks by a process of its own (disk_worker.hpp), which may hang without harm.
//
//   read() ──> the worker walks the requests ──> one reading for each
//                └─ no answer from one directory within the patience: it is reported as dead, its
//                   worker is killed and left behind, and a new one does the rest
//
// No thread, because one that hangs in the kernel keeps the agent's lock and ports after kill -9,
// and holds up execve for ever. The worker is made for each look and ends with it: what lives on
// after a fork costs a copy of every page that the agent changes. A directory whose worker does not
// end is not asked again until it has ended, so there are never more of them than directories that
// hang, and never more than kHangingMax.
#pragma once

#include "adapters/posix/disk_worker.hpp"
#include "ports/clock.hpp"
#include "ports/launcher.hpp"

#include <boost/asio/io_context.hpp>

#include <memory>
#include <vector>

namespace fdbpack::posix {

class ForkedDiskGauge final : public ports::DiskGauge {
 public:
  static constexpr auto kPatience = std::chrono::seconds(5);
  static constexpr std::size_t kHangingMax = 8;

  // The launcher reaps the workers. A test gives its own look; it runs in the worker.
  ForkedDiskGauge(boost::asio::io_context& io, ports::Clock& clock, ports::Launcher& launcher,
                  DiskLook look = {}, Duration patience = kPatience);
  ~ForkedDiskGauge() override;
  ForkedDiskGauge(const ForkedDiskGauge&) = delete;
  ForkedDiskGauge& operator=(const ForkedDiskGauge&) = delete;

  [[nodiscard]] bool read(std::vector<ports::DiskRequest> requests,
                          std::function<void(std::vector<ports::DiskReading>)> on_done) override;

  // Before the program is replaced, which the worker would not notice while it hangs. What is under
  // way goes on with another worker if the program stays.
  void end_worker();

 private:
  struct Worker;
  [[nodiscard]] Status make_worker();
  void go_on();
  void drop_worker();
  void wait();
  void on_results();
  void on_exit(const std::shared_ptr<Worker>& worker);
  void on_patience_over();
  void answer(ports::DiskReading reading);
  void answer_without_looking(const std::string& why);
  void later(void (ForkedDiskGauge::*what)());
  void report();

  boost::asio::io_context& io_;
  ports::Clock& clock_;
  ports::Launcher& launcher_;
  DiskLook look_;
  Duration patience_;
  std::deque<ports::DiskRequest> requests_;  // without an answer
  std::size_t asked_ = 0;                    // the first of them, which the worker has
  std::vector<ports::DiskReading> readings_;
  std::function<void(std::vector<ports::DiskReading>)> on_done_;  // none: nothing is asked
  std::shared_ptr<Worker> worker_;                                // none: none is needed yet
  std::vector<std::shared_ptr<Worker>> hanging_;                  // killed, and not ended yet
  std::unique_ptr<ports::Alarm> alarm_;
  std::shared_ptr<int> life_ = std::make_shared<int>(0);
};

}  // namespace fdbpack::posix
