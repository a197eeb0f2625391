// SPDX-License-Identifier: Apache-2.0
#include "adapters/http/name_watch.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>

namespace fdbpack::http_server {

namespace asio = boost::asio;

NameWatch::NameWatch(asio::io_context& io, std::function<void()> on_event)
    : on_event_(std::move(on_event)), events_(io) {}

// A socket that is in use outlives its name, so it is not deleted when that goes: its count of
// names changes, which is IN_ATTRIB.
void NameWatch::watch(const std::string& path) {
  stop();
  const int fd = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (fd < 0) return;
  constexpr std::uint32_t kMask = IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_DONT_FOLLOW;
  boost::system::error_code error;
  if (::inotify_add_watch(fd, path.c_str(), kMask) >= 0) events_.assign(fd, error);
  if (error || !events_.is_open()) {
    ::close(fd);
    return;
  }
  wait();
}

void NameWatch::stop() {
  ++generation_;
  boost::system::error_code ignored;
  events_.close(ignored);
}

void NameWatch::wait() {
  events_.async_wait(asio::posix::descriptor_base::wait_read,
                     [this, generation = generation_](const boost::system::error_code& error) {
                       // One that was complete before stop() comes without an error.
                       if (error || generation != generation_) return;
                       // What happened does not matter: the name is looked at.
                       std::array<char, 4096> bin;
                       while (::read(events_.native_handle(), bin.data(), bin.size()) > 0) {
                       }
                       wait();
                       on_event_();
                     });
}

}  // namespace fdbpack::http_server
