// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ports/clock.hpp"
#include "ports/port_probe.hpp"

#include <boost/asio/io_context.hpp>

#include <memory>
#include <set>

namespace fdbpack::posix {

// Connects, and closes at once. Attempts end unanswered with it.
class ConnectProbe final : public ports::PortProbe {
 public:
  ConnectProbe(boost::asio::io_context& io, ports::Clock& clock);
  ~ConnectProbe() override;

  void wait_for_listener(std::string address, std::uint16_t port, Duration patience,
                         std::function<void(bool accepts)> on_answer) override;

 private:
  class Attempt;

  boost::asio::io_context& io_;
  ports::Clock& clock_;
  std::set<std::shared_ptr<Attempt>> attempts_;
};

}  // namespace fdbpack::posix
