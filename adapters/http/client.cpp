// SPDX-License-Identifier: Apache-2.0
#include "adapters/http/client.hpp"

#include "adapters/http/response_parser.hpp"
#include "fdbpack/base/check.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <deque>
#include <utility>

namespace fdbpack::http_client {
namespace {

using boost::system::error_code;
using Step = ResponseParser::Step;
using SteadyTime = std::chrono::steady_clock::time_point;

struct Exchange {
  ports::HttpRequest request;
  ports::HttpClient::OnAnswer on_answer;
  ports::HttpClient::OnLine on_line;  // none: a call
  SteadyTime deadline;
  bool was_sent = false;  // a byte of it may have reached the server
  bool is_given_up = false;
};

std::string head_of(const ports::HttpRequest& request, const std::string& host) {
  std::string text(http::to_string(request.method));
  text += " " + request.target + " HTTP/1.1\r\nHost: " + host + "\r\n";
  for (std::size_t i = 0; i < request.headers.size(); ++i) {
    const auto field = request.headers[i];
    text.append(field.name).append(": ").append(field.value).append("\r\n");
  }
  const bool has_body = !request.body.empty() || request.method == http::Method::post ||
                        request.method == http::Method::put ||
                        request.method == http::Method::patch;
  if (has_body) text += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
  return text + "\r\n";
}

}  // namespace

class Client::Impl : public std::enable_shared_from_this<Client::Impl> {
 public:
  Impl(boost::asio::io_context& io, http::Endpoint endpoint, TlsClientFiles files)
      : io_(io), endpoint_(std::move(endpoint)), files_(std::move(files)), timer_(io) {}

  std::shared_ptr<Exchange> add(ports::HttpRequest request, OnLine on_line, OnAnswer on_answer) {
    auto exchange = std::make_shared<Exchange>();
    exchange->deadline = std::chrono::steady_clock::now() + request.deadline;
    exchange->request = std::move(request);
    exchange->on_line = std::move(on_line);
    exchange->on_answer = std::move(on_answer);
    waiting_.push_back(exchange);
    boost::asio::post(io_, [self = shared_from_this()] { self->start_next(); });
    return exchange;
  }

  void give_up(const std::shared_ptr<Exchange>& exchange) {
    exchange->is_given_up = true;
    if (exchange == current_) {
      drop_stream();
      current_.reset();
      timer_.cancel();
      boost::asio::post(io_, [self = shared_from_this()] { self->start_next(); });
    }
    std::erase(waiting_, exchange);
  }

  void stop() {
    is_stopped_ = true;
    if (current_) current_->is_given_up = true;
    current_.reset();
    waiting_.clear();
    drop_stream();
    timer_.cancel();
  }

 private:
  void start_next() {
    if (current_ || waiting_.empty() || is_stopped_) return;
    current_ = waiting_.front();
    waiting_.pop_front();
    watch_deadline(current_);
    begin();
  }

  void watch_deadline(const std::shared_ptr<Exchange>& exchange) {
    timer_.expires_at(exchange->deadline);
    timer_.async_wait([self = shared_from_this(), exchange](error_code error) {
      if (error || exchange != self->current_) return;
      self->fail_current(exchange->was_sent ? ErrorCode::timed_out : ErrorCode::unavailable,
                         "no answer in time");
    });
  }

  void begin() {
    if (stream_ && stream_->is_stale()) drop_stream();
    if (stream_) return send(/*is_fresh=*/false);
    stream_ = std::make_shared<ClientStream>(io_, endpoint_, files_);
    stream_->open([self = shared_from_this(), exchange = current_](Status status) {
      if (exchange != self->current_) return;
      if (!status) return self->fail_current(status.error().code, status.error().message);
      self->send(/*is_fresh=*/true);
    });
  }

  void send(bool is_fresh) {
    is_fresh_ = is_fresh;
    current_->was_sent = true;
    const ports::HttpRequest& request = current_->request;
    auto text = std::make_shared<std::string>(head_of(request, http::host_field(endpoint_)));
    *text += request.body;
    answer_ = {};
    parser_.begin(answer_, request.body_bytes_max, request.method == http::Method::head);
    input_.clear();
    // A failure to send is noticed by reading, which also finds the answer of a server that did not
    // care for the rest of the request.
    stream_->write_all(std::move(text), [](error_code) {});
    read();
  }

  void read() {
    stream_->read_some(
        [self = shared_from_this(), exchange = current_](error_code error, std::string_view bytes) {
          if (exchange != self->current_) return;
          if (error) return self->ended(error);
          self->input_ += bytes;
          self->consume();
        });
  }

  void ended(const error_code& error) {
    // Servers close a kept connection when they like, and that may cross our request.
    const bool was_kept = !is_fresh_ && !parser_.has_begun();
    if (was_kept && current_->request.is_repeatable) {
      drop_stream();
      return begin();
    }
    // TLS that ends without saying so was perhaps cut: no end of an answer.
    if (error != boost::asio::error::eof) {
      return fail_current(ErrorCode::internal, "the connection broke: " + error.message());
    }
    if (parser_.read_end() == Step::refused) {
      return fail_current(ErrorCode::internal, parser_.reason());
    }
    finish();
  }

  void consume() {
    const auto exchange = current_;
    while (true) {
      std::size_t consumed = 0;
      const Step step = parser_.read(input_, consumed);
      input_.erase(0, consumed);
      if (step == Step::refused) return fail_current(ErrorCode::corrupt, parser_.reason());
      const bool is_stream = exchange->on_line && answer_.status == 200;
      if (is_stream && step == Step::head) timer_.cancel();
      if (is_stream && !tell_lines(exchange)) return;
      if (step == Step::done) return finish();
      if (step == Step::need_more) return read();
    }
  }

  // False when the exchange was given up meanwhile.
  bool tell_lines(const std::shared_ptr<Exchange>& exchange) {
    std::size_t begin = 0;
    while (true) {
      const auto end = answer_.body.find('\n', begin);
      if (end == std::string::npos) break;
      const auto line = std::string_view(answer_.body).substr(begin, end - begin);
      exchange->on_line(line);
      if (exchange != current_) return false;
      begin = end + 1;
    }
    answer_.body.erase(0, begin);
    return true;
  }

  void finish() {
    if (!parser_.keeps_alive() || !input_.empty()) drop_stream();
    tell(std::move(answer_));
  }

  void fail_current(ErrorCode code, std::string_view why) {
    drop_stream();
    tell(fail(code, http::to_string(endpoint_) + ": " + std::string(why)));
  }

  void tell(Result<ports::HttpAnswer> answer) {
    timer_.cancel();
    const auto self = shared_from_this();  // the handler may destroy the client
    const auto exchange = std::exchange(current_, nullptr);
    exchange->is_given_up = true;
    const auto on_answer = std::move(exchange->on_answer);
    on_answer(std::move(answer));
    start_next();
  }

  void drop_stream() {
    if (stream_) std::exchange(stream_, nullptr)->close();
  }

  boost::asio::io_context& io_;
  const http::Endpoint endpoint_;
  const TlsClientFiles files_;
  boost::asio::steady_timer timer_;
  std::deque<std::shared_ptr<Exchange>> waiting_;
  std::shared_ptr<Exchange> current_;
  std::shared_ptr<ClientStream> stream_;
  bool is_fresh_ = false;  // nothing was asked on this connection before
  ResponseParser parser_;
  ports::HttpAnswer answer_;
  std::string input_;
  bool is_stopped_ = false;
};

namespace {

template <class Impl>
class Handle final : public ports::HttpCall {
 public:
  Handle(std::weak_ptr<Impl> impl, std::shared_ptr<Exchange> exchange)
      : impl_(std::move(impl)), exchange_(std::move(exchange)) {}
  ~Handle() override {
    const auto impl = impl_.lock();
    if (impl && !exchange_->is_given_up) impl->give_up(exchange_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

 private:
  std::weak_ptr<Impl> impl_;
  std::shared_ptr<Exchange> exchange_;
};

}  // namespace

Client::Client(boost::asio::io_context& io, http::Endpoint endpoint, TlsClientFiles files)
    : impl_(std::make_shared<Impl>(io, std::move(endpoint), std::move(files))) {}

Client::~Client() {
  impl_->stop();
}

std::unique_ptr<ports::HttpCall> Client::call(ports::HttpRequest request, OnAnswer on_answer) {
  auto exchange = impl_->add(std::move(request), nullptr, std::move(on_answer));
  return std::make_unique<Handle<Impl>>(impl_, std::move(exchange));
}

std::unique_ptr<ports::HttpCall> Client::stream(ports::HttpRequest request, OnLine on_line,
                                                OnAnswer on_end) {
  FDBPACK_CHECK(on_line != nullptr);
  auto exchange = impl_->add(std::move(request), std::move(on_line), std::move(on_end));
  return std::make_unique<Handle<Impl>>(impl_, std::move(exchange));
}

}  // namespace fdbpack::http_client
