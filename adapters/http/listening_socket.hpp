// SPDX-License-Identifier: Apache-2.0
//
// Sockets that clients connect to.
//
// A unix socket is bound under a name of its own, given its mode, and then renamed over `path`:
// there is no moment at which it can be reached with the wrong mode, and no moment without one. A
// socket that a dead process left behind is replaced; one that somebody listens on is not, and
// neither is a file that is no socket.
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/http/message.hpp"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace fdbpack::http_server {

struct TcpPlace {
  std::string address = "127.0.0.1";  // "::1", "0.0.0.0"; not a name
  std::uint16_t port = 0;             // 0: any that is free
};

struct UnixPlace {
  std::string path;
  ::mode_t mode = 0660;
  std::optional<::gid_t> group;
};

// Owns the file descriptor and, for a unix socket, its name.
class ListeningSocket {
 public:
  [[nodiscard]] static Result<ListeningSocket> open(const TcpPlace& place);
  [[nodiscard]] static Result<ListeningSocket> open(const UnixPlace& place);

  ListeningSocket(ListeningSocket&& other) noexcept;
  ListeningSocket& operator=(ListeningSocket&&) = delete;
  ~ListeningSocket();

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] int family() const { return family_; }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  // Whether clients who look for `path` find this socket.
  [[nodiscard]] bool has_name() const;

 private:
  ListeningSocket(int fd, int family) : fd_(fd), family_(family) {}

  int fd_ = -1;
  int family_ = 0;
  std::uint16_t port_ = 0;
  std::string path_;  // removed at the end if it is still this socket
  ::dev_t device_ = 0;
  ::ino_t inode_ = 0;
};

// Who is on the other end of a connected socket.
[[nodiscard]] http::Peer peer_of(int fd);
// What the limit per peer counts by: the address, or the uid on a unix socket.
[[nodiscard]] std::string peer_key(const http::Peer& peer);

}  // namespace fdbpack::http_server
