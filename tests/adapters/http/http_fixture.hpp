// SPDX-License-Identifier: Apache-2.0
//
// A real server on a thread of its own.
#pragma once

#include "adapters/http/server.hpp"
#include "fdbpack/http/router.hpp"
#include "tests/support/http_client.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace fdbpack::http_server {

using test::Answered;
using test::Client;
using test::get;
using test::kDeadlineMs;

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
        gone_ = reply.gone();
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

  // Of the last request to /later.
  ports::ClientGone gone() {
    const std::lock_guard lock(mutex_);
    return gone_;
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
  ports::ClientGone gone_;
  std::promise<void> has_come_;
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

}  // namespace fdbpack::http_server
