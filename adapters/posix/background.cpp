// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/background.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace fdbpack::posix {

void WorkerThread::stop() {
  thread_.stop();
  thread_.join();
}

void WorkerThread::run(std::function<void()> work, std::function<void()> done) {
  boost::asio::post(thread_, [&io = io_, work = std::move(work), done = std::move(done)]() mutable {
    work();
    // Moved, not copied: what `done` holds belongs to the loop's thread.
    boost::asio::post(io, std::move(done));
  });
}

}  // namespace fdbpack::posix
