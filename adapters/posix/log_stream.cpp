// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/log_stream.hpp"

#include <boost/asio/post.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>

namespace fdbpack::posix {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kBlockingWriteMax = 4096;  // PIPE_BUF: what POLLOUT promises room for

}  // namespace

StreamLog::StreamLog(asio::io_context& io, int fd, std::unique_ptr<spdlog::formatter> formatter,
                     std::function<void(std::string_view line)> copy)
    : LogOutput(std::move(formatter)), io_(io), fd_(fd), copy_(std::move(copy)), room_(io) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return;
  if (S_ISREG(info.st_mode)) {
    kind_ = Kind::file;
  } else if (S_ISSOCK(info.st_mode)) {
    kind_ = Kind::socket;
  } else {
    // O_NONBLOCK on the descriptor itself would change it for everybody who shares it.
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    own_ = UniqueFd(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  }
}

StreamLog::~StreamLog() {
  flush();
}

void StreamLog::log(const spdlog::details::log_msg& message) {
  const std::size_t size = message.payload.size();
  if (pending_.size() + size > LogSink::kPendingBytesMax) {
    flush();
    if (pending_.size() + size > LogSink::kPendingBytesMax) return drop(1);
  }
  announce();
  append(message);
  flush_soon();
}

void StreamLog::append(const spdlog::details::log_msg& message) {
  spdlog::memory_buf_t line;
  formatter_->format(message, line);
  pending_.append(line.data(), line.size());
  if (copy_) copy_({line.data(), line.size()});
}

void StreamLog::announce() {
  announce_dropped([this](const spdlog::details::log_msg& note) { append(note); });
}

ssize_t StreamLog::write_some(std::string_view text) {
  if (kind_ == Kind::socket) {
    return ::send(fd_, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  }
  if (kind_ == Kind::file) return ::write(fd_, text.data(), text.size());
  if (own_) return ::write(own_.get(), text.data(), text.size());
  pollfd ready = {fd_, POLLOUT, 0};
  if (::poll(&ready, 1, 0) <= 0) {
    errno = EAGAIN;
    return -1;
  }
  return ::write(fd_, text.data(), std::min(text.size(), kBlockingWriteMax));
}

void StreamLog::flush() {
  std::string_view rest = pending_;
  while (!rest.empty()) {
    const ssize_t written = write_some(rest);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) break;
    if (written < 0) {  // nobody reads any more, or the disk is full
      drop(static_cast<std::size_t>(std::count(rest.begin(), rest.end(), '\n')));
      rest = {};
      break;
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  pending_.erase(0, pending_.size() - rest.size());
  if (pending_.empty() && pending_.capacity() > 16 * 1024) pending_.shrink_to_fit();
  if (!pending_.empty()) wait_for_room();
}

void StreamLog::flush_soon() {
  if (is_flush_posted_ || is_waiting_) return;
  is_flush_posted_ = true;
  asio::post(io_, [this, alive = std::weak_ptr(alive_)] {
    if (alive.expired()) return;
    is_flush_posted_ = false;
    flush();
  });
}

void StreamLog::wait_for_room() {
  if (is_waiting_) return;
  if (!room_.is_open()) {
    const int copy = ::fcntl(own_ ? own_.get() : fd_, F_DUPFD_CLOEXEC, 3);
    boost::system::error_code error;
    room_.assign(copy, error);
    if (error) {
      if (copy >= 0) ::close(copy);
      return;  // the next line tries again
    }
  }
  is_waiting_ = true;
  room_.async_wait(asio::posix::stream_descriptor::wait_write,
                   [this, alive = std::weak_ptr(alive_)](boost::system::error_code error) {
                     if (alive.expired()) return;
                     is_waiting_ = false;
                     if (error) return;
                     flush();
                     announce();
                     flush_soon();
                   });
}

}  // namespace fdbpack::posix
