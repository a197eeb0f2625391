// SPDX-License-Identifier: Apache-2.0
//
// Signals as calls on the agent's thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <functional>
#include <vector>

namespace fdbpack::posix {

class SignalWatch {
 public:
  SignalWatch(boost::asio::io_context& io, const std::vector<int>& signals,
              std::function<void(int)> on_signal);

 private:
  void wait();

  boost::asio::signal_set signals_;
  std::function<void(int)> on_signal_;
};

}  // namespace fdbpack::posix
