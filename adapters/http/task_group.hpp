// SPDX-License-Identifier: Apache-2.0
//
// The coroutines that an object has started and has to wait for. It ends them by its own means (it
// closes their sockets and timers) and is told when the last has gone.
#pragma once

#include "fdbpack/base/check.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <cstddef>
#include <exception>
#include <functional>
#include <utility>

namespace fdbpack::http_server {

class TaskGroup {
 public:
  using Task = boost::asio::awaitable<void, boost::asio::io_context::executor_type>;

  explicit TaskGroup(boost::asio::io_context& io) : io_(io) {}
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;
  ~TaskGroup() { FDBPACK_CHECK(running_ == 0); }

  // Runs `task`, then calls `on_end` with what it threw, if it threw.
  template <class OnEnd>
  void spawn(Task task, OnEnd on_end) {
    ++running_;
    auto end = [this, on_end = std::move(on_end)](std::exception_ptr error) mutable {
      on_end(error);
      if (--running_ == 0 && on_empty_) boost::asio::post(io_, std::exchange(on_empty_, nullptr));
    };
    boost::asio::co_spawn(io_.get_executor(), std::move(task), std::move(end));
  }

  // Calls back once, when there is none left; not inside this call.
  void when_empty(std::function<void()> on_empty) {
    if (running_ == 0) return boost::asio::post(io_, std::move(on_empty));
    on_empty_ = std::move(on_empty);
  }

 private:
  boost::asio::io_context& io_;
  std::size_t running_ = 0;
  std::function<void()> on_empty_;
};

}  // namespace fdbpack::http_server
