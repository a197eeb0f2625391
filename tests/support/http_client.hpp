// SPDX-License-Identifier: Apache-2.0
//
// An HTTP client for tests that sends raw bytes, over TCP on loopback or a unix socket. Headers
// only; links nothing of the product.
//
//   Client client(port);                    Client client("/path/to.sock");
//   client.ask(get("/v1/status")).body      client.ask(post("/v1/reload", "{}")).status
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

namespace fdbpack::test {

inline constexpr int kDeadlineMs = 20'000;  // a last resort, not a measurement

struct Answered {
  int status = 0;  // 0: the connection ended first
  std::string head, body;
  [[nodiscard]] bool has(const std::string& field) const {
    return head.find("\r\n" + field + "\r\n") != std::string::npos;
  }
};

// A blocking client; every wait has a deadline.
class Client {
 public:
  explicit Client(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connect(reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
  explicit Client(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    connect(reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
  Client(Client&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)),
        input_(std::move(other.input_)),
        is_connected_(other.is_connected_),
        has_timed_out_(other.has_timed_out_) {}
  ~Client() { close(); }

  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] bool is_connected() const { return is_connected_; }

  // False when the server has closed.
  bool send(const std::string& bytes) {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      const auto count = ::send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) return false;
      sent += static_cast<std::size_t>(count);
    }
    return true;
  }

  // One answer; `has_body` is false for HEAD.
  Answered receive(bool has_body = true) {
    Answered result;
    std::size_t end = 0;
    while ((end = input_.find("\r\n\r\n")) == std::string::npos) {
      if (!read_more()) return result;
    }
    result.head = input_.substr(0, end + 2);
    input_.erase(0, end + 4);
    result.status = std::stoi(result.head.substr(9, 3));
    const auto length = result.head.find("Content-Length: ");
    if (!has_body || length == std::string::npos || result.status == 304) return result;
    const std::size_t size = std::stoul(result.head.substr(length + 16));
    while (input_.size() < size) {
      if (!read_more()) return {};
    }
    result.body = input_.substr(0, size);
    input_.erase(0, size);
    return result;
  }

  Answered ask(const std::string& bytes, bool has_body = true) {
    send(bytes);
    return receive(has_body);
  }

  // Whether the server closes without sending anything more.
  bool is_closed_by_server() {
    while (read_more()) {
    }
    return input_.empty() && !has_timed_out_;
  }

 private:
  void connect(const sockaddr* address, ::socklen_t size) {
    is_connected_ = ::connect(fd_, address, size) == 0;
  }

  bool read_more() {
    ::pollfd poll{fd_, POLLIN, 0};
    if (::poll(&poll, 1, kDeadlineMs) != 1) {
      has_timed_out_ = true;
      return false;
    }
    char buffer[16384];
    const auto count = ::recv(fd_, buffer, sizeof buffer, 0);
    if (count <= 0) return false;
    input_.append(buffer, static_cast<std::size_t>(count));
    return true;
  }

  int fd_ = -1;
  std::string input_;
  bool is_connected_ = false;
  bool has_timed_out_ = false;
};

inline std::string get(const std::string& target, const std::string& fields = "") {
  return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" + fields + "\r\n";
}

inline std::string post(const std::string& target, const std::string& body,
                        const std::string& fields = "") {
  return "POST " + target + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
         "Content-Length: " + std::to_string(body.size()) + "\r\n" + fields + "\r\n" + body;
}

}  // namespace fdbpack::test
