// SPDX-License-Identifier: Apache-2.0
//
// Stands between a client and a server on unix sockets, and can be told to fail.
//
//   pass    bytes go through
//   hold    bytes wait here; nobody notices anything
//   cut     connections are closed, and new ones refused
//
// hold_request(text): the connection that sends `text` is held from there on, the others pass.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace fdbpack::test {

class UnixProxy {
 public:
  using Protocol = boost::asio::local::stream_protocol;

  UnixProxy(boost::asio::io_context& io, const std::string& path, std::string backend)
      : io_(io), backend_(std::move(backend)), acceptor_(io, Protocol::endpoint(path)) {
    accept();
  }
  ~UnixProxy() {
    is_gone_ = true;
    close_all();
    boost::system::error_code ignored;
    acceptor_.close(ignored);
  }
  UnixProxy(const UnixProxy&) = delete;
  UnixProxy& operator=(const UnixProxy&) = delete;

  void pass() {
    mode_ = Mode::pass;
    text_to_hold_.clear();
    for (const auto& pipe : pipes_) {
      pipe->is_held = false;
      flush(pipe);
    }
  }
  void hold() { mode_ = Mode::hold; }
  void cut() {
    mode_ = Mode::cut;
    close_all();
  }
  void hold_request(std::string text) { text_to_hold_ = std::move(text); }
  [[nodiscard]] bool holds_request() const {
    for (const auto& pipe : pipes_) {
      if (pipe->is_held && !pipe->pending.empty()) return true;
    }
    return false;
  }

 private:
  enum class Mode { pass, hold, cut };
  // One direction of a connection.
  struct Pipe {
    std::shared_ptr<Protocol::socket> from, to;
    std::array<char, 8192> buffer{};
    std::string pending;
    std::string writing;
    bool is_request = false;
    bool is_held = false;
  };
  using PipePtr = std::shared_ptr<Pipe>;

  void accept() {
    acceptor_.async_accept([this](boost::system::error_code error, Protocol::socket client) {
      if (error) return;
      auto near = std::make_shared<Protocol::socket>(std::move(client));
      auto far = std::make_shared<Protocol::socket>(io_);
      boost::system::error_code refused;
      if (mode_ != Mode::cut) far->connect(Protocol::endpoint(backend_), refused);
      if (mode_ != Mode::cut && !refused) {
        start(near, far, true);
        start(far, near, false);
      }
      accept();
    });
  }
  void start(std::shared_ptr<Protocol::socket> from, std::shared_ptr<Protocol::socket> to,
             bool is_request) {
    auto pipe = std::make_shared<Pipe>();
    pipe->from = std::move(from);
    pipe->to = std::move(to);
    pipe->is_request = is_request;
    pipes_.push_back(pipe);
    read(pipe);
  }
  void read(const PipePtr& pipe) {
    pipe->from->async_read_some(boost::asio::buffer(pipe->buffer),
                                [this, pipe](boost::system::error_code error, std::size_t count) {
                                  if (error == boost::asio::error::operation_aborted) return;
                                  if (error) return drop(pipe);
                                  const std::string_view bytes(pipe->buffer.data(), count);
                                  pipe->pending += bytes;
                                  if (pipe->is_request && !text_to_hold_.empty() &&
                                      pipe->pending.find(text_to_hold_) != std::string::npos) {
                                    pipe->is_held = true;
                                  }
                                  flush(pipe);
                                  read(pipe);
                                });
  }
  void flush(const PipePtr& pipe) {
    if (mode_ == Mode::hold || pipe->is_held || pipe->pending.empty() || !pipe->writing.empty()) {
      return;
    }
    pipe->writing = std::exchange(pipe->pending, {});
    boost::asio::async_write(*pipe->to, boost::asio::buffer(pipe->writing),
                             [this, pipe](boost::system::error_code error, std::size_t) {
                               if (error) return;
                               pipe->writing.clear();
                               flush(pipe);
                             });
  }
  // A held request stays here even when its client has gone: that is what it is for.
  void drop(const PipePtr& pipe) {
    if (is_gone_ || pipe->is_held) return;
    boost::system::error_code ignored;
    bool is_other_held = false;
    for (const auto& other : pipes_) {
      if (other->from == pipe->to && other->is_held) is_other_held = true;
    }
    if (is_other_held) return;
    pipe->from->close(ignored);
    pipe->to->close(ignored);
    std::erase(pipes_, pipe);
  }
  void close_all() {
    boost::system::error_code ignored;
    for (const auto& pipe : pipes_) {
      pipe->from->close(ignored);
      pipe->to->close(ignored);
    }
    pipes_.clear();
  }

  boost::asio::io_context& io_;
  const std::string backend_;
  Protocol::acceptor acceptor_;
  std::list<PipePtr> pipes_;
  Mode mode_ = Mode::pass;
  std::string text_to_hold_;
  bool is_gone_ = false;
};

}  // namespace fdbpack::test
