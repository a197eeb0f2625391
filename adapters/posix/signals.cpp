// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/signals.hpp"

namespace fdbpack::posix {

SignalWatch::SignalWatch(boost::asio::io_context& io, const std::vector<int>& signals,
                         std::function<void(int)> on_signal)
    : signals_(io), on_signal_(std::move(on_signal)) {
  for (const int signal : signals)
    signals_.add(signal);
  wait();
}

void SignalWatch::wait() {
  signals_.async_wait([this](boost::system::error_code error, int signal) {
    if (error) return;
    wait();
    on_signal_(signal);
  });
}

}  // namespace fdbpack::posix
