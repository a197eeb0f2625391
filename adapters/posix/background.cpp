// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/background.hpp"

#include <boost/asio/post.hpp>

#include <exception>
#include <optional>
#include <utility>

namespace fdbpack::posix {

WorkerThread::WorkerThread(boost::asio::io_context& io, std::function<void(std::string)> on_failure)
    : io_(io), on_failure_(std::move(on_failure)), thread_([this] { serve(); }) {}

WorkerThread::~WorkerThread() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  has_changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool WorkerThread::stop(std::chrono::milliseconds limit) {
  std::deque<Item> forgotten;  // their ends are for the loop's thread, which is this one
  std::unique_lock lock(mutex_);
  is_stopping_ = true;
  forgotten.swap(items_);
  has_changed_.notify_all();
  if (!has_changed_.wait_for(lock, limit, [this] { return has_ended_; })) return false;
  lock.unlock();
  if (thread_.joinable()) thread_.join();
  return true;
}

void WorkerThread::run(std::function<void()> work, std::function<void()> done) {
  {
    const std::lock_guard lock(mutex_);
    items_.push_back({std::move(work), std::move(done)});
  }
  has_changed_.notify_all();
}

void WorkerThread::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    has_changed_.wait(lock, [this] { return is_stopping_ || !items_.empty(); });
    if (is_stopping_) break;
    Item item = std::move(items_.front());
    items_.pop_front();
    lock.unlock();
    perform(std::move(item));
    lock.lock();
  }
  has_ended_ = true;
  has_changed_.notify_all();
}

void WorkerThread::perform(Item item) {
  std::optional<std::string> failure;
  try {
    item.work();
  } catch (const std::exception& error) {
    failure = error.what();
  } catch (...) {
    failure = "something that is no exception";
  }
  item.work = nullptr;  // what it holds is not needed longer than it
  if (failure) boost::asio::post(io_, [this, failure] { on_failure_(*failure); });
  // Moved, not copied: what `done` holds belongs to the loop's thread.
  boost::asio::post(io_, std::move(item.done));
}

}  // namespace fdbpack::posix
