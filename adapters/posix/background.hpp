// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ports/background.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>

namespace fdbpack::posix {

// One thread.
class WorkerThread final : public ports::Background {
 public:
  explicit WorkerThread(boost::asio::io_context& io) : io_(io) {}
  ~WorkerThread() override { stop(); }

  // Waits for the work that has begun and forgets the rest. Before what the works use goes away.
  void stop();

  void run(std::function<void()> work, std::function<void()> done) override;

 private:
  boost::asio::io_context& io_;
  boost::asio::thread_pool thread_{1};
};

}  // namespace fdbpack::posix
