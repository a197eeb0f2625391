// SPDX-License-Identifier: Apache-2.0
#include "adapters/systemd/notifier.hpp"

#include "fdbpack/base/text.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace fdbpack::systemd {
namespace {

constexpr int kListenFdsStart = 3;

std::optional<std::uint64_t> number_from_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::nullopt : text::parse_decimal(value);
}

std::int64_t microseconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
}

// Names may hold neither colons nor control characters.
std::string fd_name(std::string_view name) {
  std::string result(name.substr(0, 200));
  for (char& c : result) {
    if (c <= ' ' || c == ':' || c >= 0x7F) c = '_';
  }
  return result;
}

}  // namespace

SystemdNotifier::SystemdNotifier() {
  const char* const address = std::getenv("NOTIFY_SOCKET");
  if (address == nullptr || std::strlen(address) < 2) return;
  if (std::strlen(address) >= sizeof(sockaddr_un::sun_path)) return;
  address_ = address;
  socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const auto interval = number_from_environment("WATCHDOG_USEC");
  const auto pid = number_from_environment("WATCHDOG_PID");
  if (interval && *interval > 0 && (!pid || *pid == static_cast<std::uint64_t>(::getpid()))) {
    watchdog_interval_ = std::chrono::microseconds(*interval) / 2;
  }
  // Children must not speak to our service manager in our name.
  ::unsetenv("NOTIFY_SOCKET");
  ::unsetenv("WATCHDOG_USEC");
  ::unsetenv("WATCHDOG_PID");
}

SystemdNotifier::~SystemdNotifier() {
  if (socket_ >= 0) ::close(socket_);
}

void SystemdNotifier::send(const std::string& message, int fd) {
  if (socket_ < 0) return;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, address_.data(), address_.size());
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
  iovec part = {const_cast<char*>(message.data()), message.size()};
  msghdr header{};
  header.msg_name = &address;
  header.msg_namelen = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  if (fd >= 0) {
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    cmsghdr* const rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &fd, sizeof fd);
  }
  // Lost messages are no failure of ours: the next one tells the same or more.
  static_cast<void>(::sendmsg(socket_, &header, MSG_NOSIGNAL));
}

void SystemdNotifier::ready(std::string_view status) {
  send("READY=1\nSTATUS=" + std::string(status));
}

void SystemdNotifier::reloading(Instant now) {
  send("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(microseconds(now.time_since_epoch())));
}

void SystemdNotifier::stopping() {
  send("STOPPING=1");
}

void SystemdNotifier::status(std::string_view text) {
  send("STATUS=" + std::string(text));
}

void SystemdNotifier::extend_timeout(Duration by) {
  send("EXTEND_TIMEOUT_USEC=" + std::to_string(microseconds(by)));
}

void SystemdNotifier::watchdog() {
  send("WATCHDOG=1");
}

std::optional<Duration> SystemdNotifier::watchdog_interval() const {
  return watchdog_interval_;
}

void SystemdNotifier::store(std::string_view name, int fd) {
  send("FDSTORE=1\nFDPOLL=0\nFDNAME=" + fd_name(name), fd);
}

void SystemdNotifier::unstore(std::string_view name) {
  send("FDSTOREREMOVE=1\nFDNAME=" + fd_name(name));
}

std::vector<int> take_stored_fds() {
  std::vector<int> fds;
  const auto pid = number_from_environment("LISTEN_PID");
  const auto count = number_from_environment("LISTEN_FDS");
  if (pid && count && *pid == static_cast<std::uint64_t>(::getpid()) && *count < 100000) {
    for (int i = 0; i < static_cast<int>(*count); ++i) {
      ::fcntl(kListenFdsStart + i, F_SETFD, FD_CLOEXEC);
      fds.push_back(kListenFdsStart + i);
    }
  }
  for (const char* name : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"})
    ::unsetenv(name);
  return fds;
}

}  // namespace fdbpack::systemd
