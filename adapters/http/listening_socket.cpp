// SPDX-License-Identifier: Apache-2.0
#include "adapters/http/listening_socket.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace fdbpack::http_server {
namespace {

constexpr int kBacklog = 512;

Error errno_error(const std::string& doing, int error) {
  const bool is_denied = error == EACCES || error == EPERM;
  const ErrorCode code = is_denied               ? ErrorCode::permission_denied
                         : error == EADDRINUSE   ? ErrorCode::already_exists
                         : error == EAFNOSUPPORT ? ErrorCode::unsupported
                                                 : ErrorCode::unavailable;
  return {code, doing + ": " + std::strerror(error)};
}

union SocketAddress {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
  sockaddr_un local;
  sockaddr_storage storage;
};

// Whether there is nothing at `path`, or a socket that nobody listens on.
Status check_replaceable(const std::string& path, const sockaddr_un& address) {
  struct ::stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return {};
    return fail(errno_error("looking at " + path, errno));
  }
  if (!S_ISSOCK(status.st_mode)) {
    return fail(ErrorCode::already_exists, path + " is there and is no socket");
  }
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (probe < 0) return fail(errno_error("probing " + path, errno));
  const int outcome = ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int error = errno;
  ::close(probe);
  if (outcome == 0 || error == EAGAIN) {
    return fail(ErrorCode::already_exists, "another process listens on " + path);
  }
  if (error == ECONNREFUSED || error == ENOENT) return {};
  return fail(errno_error("probing " + path, error));
}

Result<sockaddr_un> unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path ||
      path.find('\0') != std::string::npos) {
    return fail(ErrorCode::invalid_argument, "the path of a unix socket has 1 to " +
                                                 std::to_string(sizeof address.sun_path - 1) +
                                                 " bytes: " + path);
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

bool parse_address(const TcpPlace& place, SocketAddress& address, ::socklen_t& size) {
  std::memset(&address, 0, sizeof address);
  if (::inet_pton(AF_INET, place.address.c_str(), &address.v4.sin_addr) == 1) {
    address.v4.sin_family = AF_INET;
    address.v4.sin_port = htons(place.port);
    size = sizeof address.v4;
    return true;
  }
  if (::inet_pton(AF_INET6, place.address.c_str(), &address.v6.sin6_addr) == 1) {
    address.v6.sin6_family = AF_INET6;
    address.v6.sin6_port = htons(place.port);
    size = sizeof address.v6;
    return true;
  }
  return false;
}

// The further groups of the process at the other end.
std::vector<std::uint32_t> groups_of(int fd) {
  std::vector<std::uint32_t> groups(64);
  ::socklen_t size = static_cast<::socklen_t>(groups.size() * sizeof groups[0]);
  int outcome = ::getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &size);
  if (outcome != 0 && errno == ERANGE) {  // `size` says how much it takes
    groups.resize(size / sizeof groups[0]);
    outcome = ::getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &size);
  }
  groups.resize(outcome == 0 ? size / sizeof groups[0] : 0);
  return groups;
}

}  // namespace

Result<ListeningSocket> ListeningSocket::open(const TcpPlace& place) {
  SocketAddress address;
  ::socklen_t size = 0;
  if (!parse_address(place, address, size)) {
    return fail(ErrorCode::invalid_argument, "'" + place.address + "' is no address");
  }
  const std::string doing = "listening on " + place.address + " port " + std::to_string(place.port);
  const int family = address.any.sa_family;
  const int fd = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return fail(errno_error(doing, errno));
  ListeningSocket result(fd, family);
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (family == AF_INET6) ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (::bind(fd, &address.any, size) != 0 || ::listen(fd, kBacklog) != 0 ||
      ::getsockname(fd, &address.any, &size) != 0) {
    return fail(errno_error(doing, errno));
  }
  result.port_ = ntohs(family == AF_INET ? address.v4.sin_port : address.v6.sin6_port);
  return result;
}

Result<ListeningSocket> ListeningSocket::open(const UnixPlace& place) {
  const std::string doing = "listening on " + place.path;
  FDBPACK_TRY(const sockaddr_un final_address, unix_address(place.path));
  FDBPACK_TRY_VOID(check_replaceable(place.path, final_address));
  const std::string own = place.path + '.' + std::to_string(::getpid());
  FDBPACK_TRY(const sockaddr_un address, unix_address(own));
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return fail(errno_error(doing, errno));
  ListeningSocket result(fd, AF_UNIX);
  ::unlink(own.c_str());  // of an earlier process with our number
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return fail(errno_error(doing, errno));
  }
  struct ::stat status {};
  // Before listen() nobody can connect, whatever the mode is.
  const bool is_ready =
      ::lstat(own.c_str(), &status) == 0 &&
      (!place.group || ::chown(own.c_str(), static_cast<::uid_t>(-1), *place.group) == 0) &&
      ::chmod(own.c_str(), place.mode) == 0 && ::listen(fd, kBacklog) == 0 &&
      ::rename(own.c_str(), place.path.c_str()) == 0;
  result.device_ = status.st_dev;
  result.inode_ = status.st_ino;
  if (!is_ready) {
    const int error = errno;
    ::unlink(own.c_str());
    return fail(errno_error(doing, error));
  }
  result.path_ = place.path;  // whatever becomes of the name: has_name() tells
  return result;
}

ListeningSocket::ListeningSocket(ListeningSocket&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      family_(other.family_),
      port_(other.port_),
      path_(std::exchange(other.path_, std::string())),
      device_(other.device_),
      inode_(other.inode_) {}

bool ListeningSocket::has_name() const {
  struct ::stat status {};
  return !path_.empty() && ::lstat(path_.c_str(), &status) == 0 && status.st_dev == device_ &&
         status.st_ino == inode_;
}

ListeningSocket::~ListeningSocket() {
  if (has_name()) ::unlink(path_.c_str());
  if (fd_ >= 0) ::close(fd_);
}

http::Peer peer_of(int fd) {
  http::Peer peer;
  SocketAddress address;
  std::memset(&address, 0, sizeof address);
  ::socklen_t size = sizeof address;
  if (::getpeername(fd, &address.any, &size) != 0) return peer;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.any.sa_family == AF_INET) {
    ::inet_ntop(AF_INET, &address.v4.sin_addr, text.data(), text.size());
    peer.port = ntohs(address.v4.sin_port);
    peer.is_loopback = (ntohl(address.v4.sin_addr.s_addr) >> 24U) == 127;
  } else if (address.any.sa_family == AF_INET6) {
    ::inet_ntop(AF_INET6, &address.v6.sin6_addr, text.data(), text.size());
    peer.port = ntohs(address.v6.sin6_port);
    peer.is_loopback = IN6_IS_ADDR_LOOPBACK(&address.v6.sin6_addr) != 0;
  } else if (address.any.sa_family == AF_UNIX) {
    ::ucred credentials{};
    ::socklen_t length = sizeof credentials;
    if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0) {
      peer.credentials =
          http::UnixCredentials{credentials.pid, credentials.uid, credentials.gid, groups_of(fd)};
    }
  }
  peer.address = text.data();
  return peer;
}

std::string peer_key(const http::Peer& peer) {
  if (peer.credentials) return "uid " + std::to_string(peer.credentials->uid);
  return peer.address;
}

}  // namespace fdbpack::http_server
