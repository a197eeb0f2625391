// SPDX-License-Identifier: Apache-2.0
//
// The machine's clocks, and alarms on its monotonic one.
#pragma once

#include "ports/clock.hpp"

#include <boost/asio/io_context.hpp>

namespace fdbpack::posix {

class SteadyClock final : public ports::Clock {
 public:
  explicit SteadyClock(boost::asio::io_context& io) : io_(io) {}

  [[nodiscard]] Instant now() const override;
  [[nodiscard]] WallTime wall() const override;
  [[nodiscard]] std::unique_ptr<ports::Alarm> make_alarm(std::function<void()> on_time) override;

 private:
  boost::asio::io_context& io_;
};

}  // namespace fdbpack::posix
