// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/disk_gauge.hpp"

#include <boost/asio/post.hpp>

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>

namespace fdbpack::posix {

// What the threads and we both see. `io` is empty once we are gone.
struct ThreadedDiskGauge::Shared {
  std::mutex mutex;
  boost::asio::io_context* io = nullptr;
  // The rest is used on the agent's thread alone.
  ThreadedDiskGauge* gauge = nullptr;
  std::vector<std::string> hanging;  // directories whose thread has not come back
};

// One thread's work.
struct ThreadedDiskGauge::Round {
  std::shared_ptr<Shared> shared;
  Look look;
  std::vector<ports::DiskRequest> requests;
  std::atomic<bool> is_left = false;  // it goes no further
  // On the agent's thread:
  std::vector<ports::DiskReading> done;
  std::string left_at;  // it was left behind while it looked at this
};

namespace {

constexpr std::size_t kStackBytes = 256 * 1024;
constexpr int kNice = 10;
constexpr int kIoClassIdle = 3 << 13;  // IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0)
constexpr int kIoWhoProcess = 1;       // IOPRIO_WHO_PROCESS: this thread

ports::DiskReading dead(const std::string& path) {
  ports::DiskReading reading;
  reading.path = path;
  reading.error = "the file system does not answer";
  return reading;
}

using Body = std::function<void()>;

void* run_body(void* argument) {
  const std::unique_ptr<Body> body(static_cast<Body*>(argument));
  // Of this thread alone; whether it works is of no importance.
  static_cast<void>(::setpriority(PRIO_PROCESS, static_cast<::id_t>(::gettid()), kNice));
  static_cast<void>(::syscall(SYS_ioprio_set, kIoWhoProcess, 0, kIoClassIdle));
  (*body)();
  return nullptr;
}

// Starts a thread that nobody waits for. False when there is none to be had.
bool start_thread(Body body) {
  ::sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_attr_t attributes;
  if (::pthread_attr_init(&attributes) != 0) return false;
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  ::pthread_attr_setstacksize(&attributes, kStackBytes);
  auto argument = std::make_unique<Body>(std::move(body));
  ::pthread_t thread{};
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are the agent's
  const bool is_started = ::pthread_create(&thread, &attributes, run_body, argument.get()) == 0;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::pthread_attr_destroy(&attributes);
  if (is_started) static_cast<void>(argument.release());
  return is_started;
}

}  // namespace

ThreadedDiskGauge::ThreadedDiskGauge(boost::asio::io_context& io, ports::Clock& clock, Look look,
                                     Duration patience)
    : io_(io),
      look_(look ? std::move(look) : Look(look_at_disk)),
      patience_(patience),
      clock_(clock),
      shared_(std::make_shared<Shared>()),
      alarm_(clock.make_alarm([this] { on_patience_over(); })) {
  shared_->io = &io_;
  shared_->gauge = this;
}

ThreadedDiskGauge::~ThreadedDiskGauge() {
  if (round_) round_->is_left = true;
  const std::lock_guard lock(shared_->mutex);
  shared_->io = nullptr;
  shared_->gauge = nullptr;
}

bool ThreadedDiskGauge::read(std::vector<ports::DiskRequest> requests,
                             std::function<void(std::vector<ports::DiskReading>)> on_done) {
  if (on_done_) return false;
  requests_ = std::move(requests);
  readings_.clear();
  on_done_ = std::move(on_done);
  go_on();
  return true;
}

void ThreadedDiskGauge::go_on() {
  auto round = std::make_shared<Round>();
  round->shared = shared_;
  round->look = look_;
  const auto& hanging = shared_->hanging;
  for (auto& request : requests_) {
    const bool hangs = std::find(hanging.begin(), hanging.end(), request.path) != hanging.end();
    if (!hangs && hanging.size() < kHangingMax) round->requests.push_back(request);
  }
  if (round->requests.empty()) return finish();
  const bool is_started = start_thread([round] {
    const auto post = [&](std::function<void()> what) {
      const std::lock_guard lock(round->shared->mutex);
      if (round->shared->io != nullptr) boost::asio::post(*round->shared->io, std::move(what));
    };
    for (const auto& request : round->requests) {
      post([round, reading = round->look(request)] {
        round->done.push_back(reading);
        if (round->shared->gauge != nullptr) round->shared->gauge->on_step(round);
      });
      if (round->is_left) return;
    }
  });
  if (!is_started) return finish();
  round_ = std::move(round);
  alarm_->set(clock_.now() + patience_);
}

void ThreadedDiskGauge::on_step(const std::shared_ptr<Round>& round) {
  if (!round->left_at.empty()) {
    // It hung and has come back.
    std::erase(shared_->hanging, round->left_at);
    round->left_at.clear();
    return;
  }
  if (round != round_) return;
  if (round->done.size() < round->requests.size()) return alarm_->set(clock_.now() + patience_);
  alarm_->clear();
  round_.reset();
  readings_.insert(readings_.end(), round->done.begin(), round->done.end());
  finish();
}

void ThreadedDiskGauge::on_patience_over() {
  const auto round = std::exchange(round_, nullptr);
  if (!round) return;
  round->is_left = true;
  round->left_at = round->requests[round->done.size()].path;
  shared_->hanging.push_back(round->left_at);
  readings_.insert(readings_.end(), round->done.begin(), round->done.end());
  std::erase_if(requests_, [&](const ports::DiskRequest& request) {
    const auto is_it = [&](const ports::DiskReading& one) { return one.path == request.path; };
    return std::any_of(round->done.begin(), round->done.end(), is_it);
  });
  go_on();
}

void ThreadedDiskGauge::finish() {
  for (const auto& request : requests_) {
    const auto is_it = [&](const ports::DiskReading& one) { return one.path == request.path; };
    const bool is_read = std::any_of(readings_.begin(), readings_.end(), is_it);
    if (!is_read) readings_.push_back(dead(request.path));
  }
  requests_.clear();
  boost::asio::post(io_, [shared = shared_] {
    if (shared->gauge == nullptr) return;
    const auto done = std::exchange(shared->gauge->on_done_, nullptr);
    done(std::exchange(shared->gauge->readings_, {}));
  });
}

}  // namespace fdbpack::posix
