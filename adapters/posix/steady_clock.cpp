// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/steady_clock.hpp"

#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <utility>

namespace fdbpack::posix {
namespace {

class SteadyAlarm final : public ports::Alarm {
 public:
  SteadyAlarm(boost::asio::io_context& io, std::function<void()> on_time)
      : timer_(io), on_time_(std::make_shared<std::function<void()>>(std::move(on_time))) {}

  void set(Instant at) override {
    if (is_set_ && at == at_) return;
    at_ = at;
    is_set_ = true;
    timer_.expires_at(std::chrono::steady_clock::time_point(
        std::chrono::duration_cast<std::chrono::steady_clock::duration>(at.time_since_epoch())));
    timer_.async_wait([this, on_time = std::weak_ptr(on_time_)](boost::system::error_code error) {
      const auto call = on_time.lock();  // gone with the alarm: `this` is not valid any more
      if (error || !call) return;
      is_set_ = false;
      (*call)();
    });
  }

  void clear() override {
    is_set_ = false;
    timer_.cancel();
  }

 private:
  boost::asio::steady_timer timer_;
  std::shared_ptr<std::function<void()>> on_time_;
  Instant at_;
  bool is_set_ = false;
};

}  // namespace

Instant SteadyClock::now() const {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return Instant(std::chrono::duration_cast<Duration>(since));
}

WallTime SteadyClock::wall() const {
  return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

std::unique_ptr<ports::Alarm> SteadyClock::make_alarm(std::function<void()> on_time) {
  return std::make_unique<SteadyAlarm>(io_, std::move(on_time));
}

}  // namespace fdbpack::posix
