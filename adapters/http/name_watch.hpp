// SPDX-License-Identifier: Apache-2.0
//
// Tells when a file may have lost its name: somebody removed it, renamed it or put another one in
// its place. The file itself is watched, not its folder, in which much else may happen.
//
// It is a hint that comes at once. A folder that is moved away with the file in it, a system
// without watches to give: who must know looks now and then as well.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <cstdint>
#include <functional>
#include <string>

namespace fdbpack::http_server {

// Runs on the thread of its io_context.
class NameWatch {
 public:
  NameWatch(boost::asio::io_context& io, std::function<void()> on_event);

  // From now on this one, instead of the one before.
  void watch(const std::string& path);
  void stop();

 private:
  void wait();

  std::function<void()> on_event_;
  boost::asio::posix::stream_descriptor events_;
  std::uint64_t generation_ = 0;  // of the descriptor; a wait that ends in a later one is void
};

}  // namespace fdbpack::http_server
