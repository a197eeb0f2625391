// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/disk_gauge.hpp"

#include "adapters/posix/pidfd.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace fdbpack::posix {

using Descriptor = boost::asio::posix::stream_descriptor;

struct ForkedDiskGauge::Worker {
  explicit Worker(boost::asio::io_context& io) : socket(io) {}
  Descriptor socket;
  std::unique_ptr<ports::Child> child;
  std::string left_at;      // it was left behind while it looked at this
  bool is_awaited = false;  // we hear of it when the socket can be read
};

namespace {

constexpr int kEndMilliseconds = 50;
constexpr int kAttempts = 2;  // the worker may have ended a moment ago
constexpr auto kDead = "the file system does not answer";

ports::DiskReading failed(const std::string& path, const std::string& why) {
  ports::DiskReading reading;
  reading.path = path;
  reading.error = why;
  return reading;
}

ports::DiskReading not_looked_at(const std::string& path, const std::string& why) {
  auto reading = failed(path, "it could not be looked at: " + why);
  reading.is_unknown = true;
  return reading;
}

// Who does not hang is gone at once, and reaped.
void kill_and_reap(ports::Child& child) {
  static_cast<void>(child.signal_process(SIGKILL));
  ::pollfd end{child.pidfd(), POLLIN, 0};
  if (::poll(&end, 1, kEndMilliseconds) > 0) {
    static_cast<void>(reap_pidfd(child.pidfd(), child.pid()));
  }
}

}  // namespace

ForkedDiskGauge::ForkedDiskGauge(boost::asio::io_context& io, ports::Clock& clock,
                                 ports::Launcher& launcher, DiskLook look, Duration patience)
    : io_(io),
      clock_(clock),
      launcher_(launcher),
      look_(look ? std::move(look) : DiskLook(look_at_disk)),
      patience_(patience),
      alarm_(clock.make_alarm([this] { on_patience_over(); })) {}

ForkedDiskGauge::~ForkedDiskGauge() {
  if (worker_) drop_worker();
}

void ForkedDiskGauge::later(void (ForkedDiskGauge::*what)()) {
  boost::asio::post(io_, [this, what, life = std::weak_ptr<int>(life_)] {
    if (!life.expired()) (this->*what)();
  });
}

bool ForkedDiskGauge::read(std::vector<ports::DiskRequest> requests,
                           std::function<void(std::vector<ports::DiskReading>)> on_done) {
  if (on_done_) return false;
  requests_.assign(requests.begin(), requests.end());
  readings_.clear();
  on_done_ = std::move(on_done);
  for (const auto& worker : hanging_) {
    const auto is_it = [&](const auto& request) { return request.path == worker->left_at; };
    if (std::erase_if(requests_, is_it) > 0) readings_.push_back(failed(worker->left_at, kDead));
  }
  go_on();
  return true;
}

Status ForkedDiskGauge::make_worker() {
  FDBPACK_TRY(auto forked, fork_disk_worker(look_));
  auto worker = std::make_shared<Worker>(io_);
  worker->child =
      launcher_.adopt(forked.pid, forked.pidfd.release(),
                      [this, weak = std::weak_ptr<Worker>(worker)](const supervise::Exit&, bool) {
                        if (const auto ended = weak.lock()) on_exit(ended);
                      });
  boost::system::error_code error;
  worker->socket.assign(forked.socket.get(), error);
  if (error) {
    kill_and_reap(*worker->child);
    return fail(ErrorCode::unavailable, "waiting for a process: " + error.message());
  }
  static_cast<void>(forked.socket.release());
  worker_ = std::move(worker);
  return {};
}

// Gives the worker as much as it takes.
void ForkedDiskGauge::go_on() {
  if (requests_.empty()) return later(&ForkedDiskGauge::report);
  if (hanging_.size() >= kHangingMax) {
    return answer_without_looking("too many file systems do not answer");
  }
  std::string why;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (!worker_) {
      const auto made = make_worker();
      if (!made) return answer_without_looking(made.error().message);
    }
    asked_ = send_requests(worker_->socket.native_handle(), requests_);
    if (asked_ > 0) return wait();
    why = std::strerror(errno);
    drop_worker();
  }
  answer_without_looking(why);
}

void ForkedDiskGauge::wait() {
  alarm_->set(clock_.now() + patience_);
  if (std::exchange(worker_->is_awaited, true)) return;
  worker_->socket.async_wait(Descriptor::wait_read,
                             [this, weak = std::weak_ptr<Worker>(worker_)](const auto& error) {
                               const auto worker = weak.lock();
                               if (error || !worker || worker != worker_) return;
                               worker->is_awaited = false;
                               if (asked_ > 0) on_results();
                             });
}

void ForkedDiskGauge::on_results() {
  bool is_gone = false;
  while (asked_ > 0 && !is_gone) {
    ports::DiskReading reading;
    const Received received = receive_reading(worker_->socket.native_handle(), reading);
    if (received == Received::nothing) return wait();
    is_gone = received == Received::end;
    if (is_gone) reading = not_looked_at({}, "the process that did was killed");
    answer(std::move(reading));
  }
  alarm_->clear();
  if (is_gone) {
    asked_ = 0;
    drop_worker();
  }
  go_on();
}

void ForkedDiskGauge::drop_worker() {
  kill_and_reap(*worker_->child);
  worker_.reset();
}

void ForkedDiskGauge::on_exit(const std::shared_ptr<Worker>& worker) {
  if (worker != worker_) {
    std::erase(hanging_, worker);
  } else if (asked_ > 0) {
    on_results();
  } else {
    worker_.reset();
  }
}

void ForkedDiskGauge::on_patience_over() {
  if (asked_ == 0) return;
  // It may be us who did not run meanwhile.
  ports::DiskReading reading;
  if (receive_reading(worker_->socket.native_handle(), reading) == Received::reading) {
    answer(std::move(reading));
    return on_results();
  }
  const auto worker = std::exchange(worker_, nullptr);
  worker->left_at = requests_.front().path;
  hanging_.push_back(worker);
  boost::system::error_code ignored;
  worker->socket.close(ignored);
  static_cast<void>(worker->child->signal_process(SIGKILL));
  answer(failed({}, kDead));
  asked_ = 0;
  go_on();
}

// What the first request has waited for.
void ForkedDiskGauge::answer(ports::DiskReading reading) {
  reading.path = std::move(requests_.front().path);
  readings_.push_back(std::move(reading));
  requests_.pop_front();
  --asked_;
}

void ForkedDiskGauge::answer_without_looking(const std::string& why) {
  for (const auto& request : requests_)
    readings_.push_back(not_looked_at(request.path, why));
  requests_.clear();
  later(&ForkedDiskGauge::report);
}

void ForkedDiskGauge::report() {
  if (worker_) drop_worker();  // each page that we change from now on would be kept for it
  const auto done = std::exchange(on_done_, nullptr);
  done(std::exchange(readings_, {}));
}

void ForkedDiskGauge::end_worker() {
  if (!worker_) return;
  alarm_->clear();
  drop_worker();
  if (std::exchange(asked_, 0) > 0) later(&ForkedDiskGauge::go_on);
}

}  // namespace fdbpack::posix
