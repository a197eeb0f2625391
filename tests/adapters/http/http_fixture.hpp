// SPDX-License-Identifier: Apache-2.0
//
// A real server on a thread of its own, and a client that sends raw bytes.
#pragma once

#include "adapters/http/server.hpp"
#include "fdbpack/http/router.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <future>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace fdbpack::http_server {

inline constexpr int kDeadlineMs = 20'000;  // a last resort, not a measurement

// Answers what the tests ask for. Runs on the server's thread.
class TestHandler final : public ports::HttpHandler {
 public:
  enum Call { livez, status, echo, upload, who, later, drop, fail_badly, big };

  TestHandler() {
    using http::Access;
    using http::Method;
    router_.add({Method::get, "/livez", Access::probe, livez});
    router_.add({Method::get, "/v1/status", Access::read, status});
    router_.add({Method::post, "/echo", Access::read, echo});
    router_.add({Method::post, "/upload", Access::operate, upload, true});
    router_.add({Method::get, "/who", Access::read, who});
    router_.add({Method::get, "/later", Access::read, later});
    router_.add({Method::get, "/drop", Access::read, drop});
    router_.add({Method::get, "/fail", Access::read, fail_badly});
    router_.add({Method::get, "/big", Access::read, big});
    status_page_ = http::Page::make("application/json", std::string(2047, 'x') + "\n");
    big_page_ = http::Page::make("text/plain", std::string(32 * 1024 * 1024, 'y'));
  }

  ports::Admission admit(const http::Request& head) override {
    match_ = router_.match(head.method, head.target);
    ports::Admission admission;
    using Outcome = http::RouteMatch::Outcome;
    if (match_.outcome == Outcome::not_found)
      admission.refusal = http::problem(404, "no such call");
    if (match_.outcome == Outcome::bad_target) admission.refusal = http::problem(400, "no path");
    if (match_.outcome == Outcome::unknown_method) admission.refusal = http::problem(501, "method");
    if (match_.outcome == Outcome::wrong_method) {
      admission.refusal = http::problem(405, "not so");
      admission.refusal->headers.add("Allow", match_.allow);
    }
    if (match_.route == nullptr) return admission;
    admission.is_probe = match_.route->access == http::Access::probe;
    const http::Limits limits;
    admission.body_bytes_max =
        match_.route->is_upload ? limits.upload_bytes_max : limits.body_bytes_max;
    return admission;
  }

  void handle(const http::Request& request, ports::Reply reply) override {
    last_certificate_ = request.peer.certificate;
    switch (match_.route->call) {
      case livez:
        return reply.send(http::Response{200, "text/plain", "ok\n", {}, false});
      case status:
        return reply.send(status_page_);
      case big:
        return reply.send(big_page_);
      case echo:
      case upload:
        return reply.send(http::Response{200, "text/plain", request.body, {}, false});
      case who:
        return reply.send(
            http::Response{200, "text/plain", http::describe(request.peer), {}, false});
      case later: {
        const std::lock_guard lock(mutex_);
        waiting_.push_back(std::move(reply));
        has_come_.set_value();
        return;
      }
      case fail_badly:
        throw std::runtime_error("on purpose");
      default:
        return;  // drop
    }
  }

  // Waits for a request to /later and gives the right to answer it.
  ports::Reply wait_for_later() {
    auto future = has_come_.get_future();
    if (future.wait_for(std::chrono::milliseconds(kDeadlineMs)) != std::future_status::ready) {
      throw std::runtime_error("nobody asked for /later");
    }
    const std::lock_guard lock(mutex_);
    has_come_ = std::promise<void>();
    ports::Reply reply = std::move(waiting_.back());
    waiting_.pop_back();
    return reply;
  }

  http::PagePtr status_page() const { return status_page_; }
  // Of the last request; on the server's thread.
  std::optional<http::CertificateFacts> last_certificate() const { return last_certificate_; }

 private:
  http::Router router_;
  http::RouteMatch match_;
  http::PagePtr status_page_, big_page_;
  std::optional<http::CertificateFacts> last_certificate_;
  std::mutex mutex_;
  std::vector<ports::Reply> waiting_;
  std::promise<void> has_come_;
};

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
      : fd_(std::exchange(other.fd_, -1)), input_(std::move(other.input_)) {}
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

class HttpServerTest : public testing::Test {
 protected:
  ~HttpServerTest() override { stop(); }

  void start(http::Limits limits = {}, const std::string& unix_path = "") {
    make(limits);
    port_ = *server_->listen(TcpPlace{}, Server::Security::plain);
    if (!unix_path.empty()) {
      UnixPlace place;
      place.path = unix_path;
      const auto status = server_->listen(place);
      EXPECT_TRUE(status) << status.error().message;
    }
    run();
  }

  void make(const http::Limits& limits) {
    server_ = std::make_unique<Server>(io_, handler_, limits, [this](std::string_view what) {
      notes_ += what;
      notes_ += '\n';
    });
  }

  void run() {
    thread_ = std::thread([this] { io_.run(); });
  }

  // Runs something on the server's thread and gives what it returned.
  template <class Function>
  auto on_server(Function function) {
    std::packaged_task<decltype(function())()> task(std::move(function));
    auto result = task.get_future();
    boost::asio::post(io_, std::move(task));
    return result.get();
  }

  Counters counters() {
    return on_server([this] { return server_->totals(); });
  }
  std::size_t open_connections() {
    return on_server([this] { return server_->open_connections(); });
  }
  // Waits until the server has this many connections.
  bool comes_to(std::size_t connections) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kDeadlineMs);
    while (open_connections() != connections) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::yield();
    }
    return true;
  }

  void stop(std::chrono::milliseconds grace = std::chrono::milliseconds(100)) {
    if (!thread_.joinable()) return;
    std::promise<void> stopped;
    boost::asio::post(io_, [&] { server_->stop(grace, [&] { stopped.set_value(); }); });
    stopped.get_future().wait();
    work_.reset();
    thread_.join();
    server_.reset();
  }

  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<Executor> work_ = boost::asio::make_work_guard(io_);
  TestHandler handler_;
  std::string notes_;  // of the server's thread; read it after stop()
  std::unique_ptr<Server> server_;
  std::thread thread_;
  std::uint16_t port_ = 0;
};

inline std::string get(const std::string& target, const std::string& fields = "") {
  return "GET " + target + " HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n";
}

}  // namespace fdbpack::http_server
