// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ports/background.hpp"

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

namespace fdbpack::posix {

// One thread.
class WorkerThread final : public ports::Background {
 public:
  // `on_failure` is called on the loop's thread with what a work threw.
  WorkerThread(boost::asio::io_context& io, std::function<void(std::string)> on_failure);
  ~WorkerThread() override;  // waits for the work that has begun, however long

  // Forgets the work that has not begun and waits for the one that has. False: it is still at it
  // after `limit`, and nothing that it uses may go away; the program can only leave it behind and
  // end with _exit().
  [[nodiscard]] bool stop(std::chrono::milliseconds limit);

  void run(std::function<void()> work, std::function<void()> done) override;

 private:
  struct Item {
    std::function<void()> work, done;
  };
  void serve();
  void perform(Item item);

  boost::asio::io_context& io_;
  std::function<void(std::string)> on_failure_;
  std::mutex mutex_;
  std::condition_variable has_changed_;
  std::deque<Item> items_;
  bool is_stopping_ = false;
  bool has_ended_ = false;
  std::thread thread_;
};

}  // namespace fdbpack::posix
