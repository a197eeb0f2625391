// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/log_sink.hpp"

#include "fdbpack/wire/json_writer.hpp"

#include <boost/asio/post.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <syslog.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace fdbpack::posix {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kSyslogBytesMax = 4096;
constexpr std::size_t kBlockingWriteMax = 4096;  // PIPE_BUF: what POLLOUT promises room for
constexpr std::string_view kOwnName = "fdbmonitor";

// A line break or a NUL inside a message would end the record for its reader.
void append_printable(std::string& to, std::string_view text) {
  for (const char c : text) {
    if (c == '\0') {
      to += "\\0";
    } else {
      to += c == '\n' ? ' ' : c;
    }
  }
}

void append_time(std::string& to, WallTime) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  std::array<char, 32> digits{};
  const int size = std::snprintf(digits.data(), digits.size(), "%lld.%06ld",
                                 static_cast<long long>(now.tv_sec), now.tv_nsec / 1000);
  to.append(digits.data(), static_cast<std::size_t>(std::max(size, 0)));
}

// In local time, as Python's logging has it.
void append_python_time(std::string& to) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  tm local{};
  ::localtime_r(&now.tv_sec, &local);
  std::array<char, 32> text{};
  to.append(text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &local));
  const int size = std::snprintf(text.data(), text.size(), ",%03ld", now.tv_nsec / 1'000'000);
  to.append(text.data(), static_cast<std::size_t>(std::max(size, 0)));
}

std::string_view python_level(supervise::Severity severity) {
  switch (severity) {
    case supervise::Severity::error:
      return " ERROR ";
    case supervise::Severity::warning_always:
    case supervise::Severity::warning:
      return " WARNING ";
    case supervise::Severity::info:
      return " INFO ";
    case supervise::Severity::debug:
      return " DEBUG ";
  }
  return " INFO ";
}

int syslog_priority(supervise::Severity severity) {
  switch (severity) {
    case supervise::Severity::error:
      return LOG_ERR;
    case supervise::Severity::warning_always:
      return LOG_WARNING;
    case supervise::Severity::warning:
      return LOG_NOTICE;
    case supervise::Severity::info:
      return LOG_INFO;
    case supervise::Severity::debug:
      return LOG_DEBUG;
  }
  return LOG_INFO;
}

UniqueFd connect_syslog() {
  UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "%s", "/dev/log");
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    fd.reset();
  }
  return fd;
}

}  // namespace

LogSink::LogSink(asio::io_context& io, ports::Clock& clock, LogOptions options, int fd)
    : io_(io), clock_(clock), options_(std::move(options)), fd_(fd), room_(io) {
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

LogSink::~LogSink() {
  flush();
}

void LogSink::write(supervise::Severity severity, std::string_view process, std::string_view text) {
  if (options_.to_syslog) return send_to_syslog(severity, process, text);
  if (pending_.size() + text.size() > kPendingBytesMax) {
    flush();
    if (pending_.size() + text.size() > kPendingBytesMax) return drop(1);
  }
  announce_dropped();
  append_line(severity, process, text);
  flush_soon();
}

void LogSink::append_line(supervise::Severity severity, std::string_view process,
                          std::string_view text) {
  const int number = static_cast<int>(severity);
  if (options_.format == LogFormat::json) {
    std::string time;
    append_time(time, {});
    wire::JsonWriter json;
    json.begin_object()
        .member("time", time)
        .member("severity", number)
        .member("logGroup", options_.group)
        .member("process", process)
        .member("message", text)
        .end_object();
    pending_ += std::move(json).text();
  } else if (options_.format == LogFormat::sidecar) {
    append_python_time(pending_);
    pending_ += python_level(severity);
    append_printable(pending_, text);
  } else {
    pending_ += "Time=\"";
    append_time(pending_, {});
    pending_ += "\" Severity=\"" + std::to_string(number) + "\" LogGroup=\"" + options_.group;
    pending_ += "\" Process=\"";
    append_printable(pending_, process);
    pending_ += "\": ";
    append_printable(pending_, text);
  }
  pending_ += '\n';
}

void LogSink::drop(std::size_t lines) {
  dropped_ += lines;
}

void LogSink::announce_dropped() {
  if (dropped_ == dropped_announced_) return;
  const std::uint64_t count = dropped_ - dropped_announced_;
  dropped_announced_ = dropped_;
  append_line(supervise::Severity::warning_always, kOwnName,
              std::to_string(count) + " log lines were dropped because they were not read in time");
}

void LogSink::send_to_syslog(supervise::Severity severity, std::string_view process,
                             std::string_view text) {
  if (!syslog_) syslog_ = connect_syslog();
  std::array<char, 32> when{};
  const time_t now = std::chrono::system_clock::to_time_t(clock_.wall());
  tm local{};
  ::localtime_r(&now, &local);
  std::strftime(when.data(), when.size(), "%b %e %H:%M:%S", &local);
  const int priority = LOG_DAEMON | syslog_priority(severity);
  std::string line = "<" + std::to_string(priority) + ">" + when.data() + " fdbmonitor[" +
                     std::to_string(::getpid()) + "]: LogGroup=\"" + options_.group +
                     "\" Process=\"";
  append_printable(line, process);
  line += "\": ";
  append_printable(line, text.substr(0, kSyslogBytesMax));
  if (!syslog_ || ::send(syslog_.get(), line.data(), line.size(), MSG_NOSIGNAL) < 0) {
    if (errno != EAGAIN) syslog_.reset();
    drop(1);
  }
}

ssize_t LogSink::write_some(std::string_view text) {
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

void LogSink::flush() {
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

void LogSink::flush_soon() {
  if (is_flush_posted_ || is_waiting_) return;
  is_flush_posted_ = true;
  asio::post(io_, [this, alive = std::weak_ptr(alive_)] {
    if (alive.expired()) return;
    is_flush_posted_ = false;
    flush();
  });
}

void LogSink::wait_for_room() {
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
                     announce_dropped();
                     flush_soon();
                   });
}

}  // namespace fdbpack::posix
