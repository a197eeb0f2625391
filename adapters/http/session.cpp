// SPDX-License-Identifier: Apache-2.0
#include "adapters/http/session.hpp"

#include "adapters/http/certificate_facts.hpp"
#include "adapters/http/outbox.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <optional>
#include <tuple>

namespace fdbpack::http_server {

namespace asio = boost::asio;
using boost::system::error_code;

void Session::enter(Phase phase, std::chrono::milliseconds limit) {
  phase_ = phase;
  is_timed_out_ = false;
  since_ = std::chrono::steady_clock::now();
  deadline_ = since_ + limit;
  host_.watch(deadline_);
}

namespace {

using Step = RequestParser::Step;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, Executor>;
constexpr asio::as_tuple_t<asio::use_awaitable_t<Executor>> kToken;
template <class T>
using Awaitable = asio::awaitable<T, Executor>;

constexpr std::size_t kInputSizeFirst = 2 * 1024;
constexpr std::size_t kDiscardBytesMax = 1024 * 1024;
constexpr auto kGoneEvery = std::chrono::milliseconds(250);

// A client may end its sending and read on, and over TCP one that has closed looks the same until
// we write: `silent` is either. A reset, or a unix socket that was closed, is `gone`.
enum class Presence { here, silent, gone };

Presence presence_of(int fd) {
  pollfd state{fd, POLLRDHUP, 0};
  if (::poll(&state, 1, 0) <= 0) return Presence::here;
  return (state.revents & (POLLERR | POLLHUP)) != 0 ? Presence::gone : Presence::silent;
}

// Where the answer of the handler arrives. Lives on when the session has gone.
class Slot final : public ports::ReplySlot {
 public:
  void put(http::Answer answer) override {
    answer_ = std::move(answer);
    if (waiter_ != nullptr) waiter_->cancel();
  }
  [[nodiscard]] bool is_filled() const { return answer_.has_value(); }
  [[nodiscard]] http::Answer take() {
    http::Answer answer = *std::move(answer_);
    answer_.reset();
    gone_.reset();
    return answer;
  }
  ports::ClientGone gone() override {
    if (!gone_) gone_ = std::make_shared<std::atomic<bool>>(false);
    return gone_;
  }
  [[nodiscard]] bool has_watcher() const { return gone_ && !*gone_; }
  void tell_of_the_end() {
    if (gone_) *gone_ = true;
  }
  void wake(Timer* waiter) { waiter_ = waiter; }

 private:
  std::optional<http::Answer> answer_;
  Timer* waiter_ = nullptr;
  std::shared_ptr<std::atomic<bool>> gone_;  // none: nobody asked
};

template <class Stream>
class StreamSession final : public Session {
 public:
  static constexpr bool kIsTls = !std::is_same_v<Stream, Socket>;

  StreamSession(SessionHost& host, Stream stream, std::shared_ptr<TlsStore::Context> context,
                http::Peer peer, bool is_probe_only)
      : Session(host, std::move(peer), is_probe_only),
        context_(std::move(context)),
        stream_(std::move(stream)),
        parser_(host.limits()),
        signal_(host.io().get_executor()) {}

  ~StreamSession() override { slot_->wake(nullptr); }

  Task run() override {
    bool is_open = true;
    if constexpr (kIsTls) is_open = co_await shake_hands();
    if (is_open) co_await serve();
    if (is_open && !is_closed_) co_await say_farewell();
    close();
  }

  void close() override {
    if (std::exchange(is_closed_, true)) return;
    error_code ignored;
    socket().close(ignored);
    signal_.cancel();
    slot_->tell_of_the_end();
  }

  void interrupt() override {
    // A client that does not say goodbye is not late with anything.
    if (phase() != Phase::farewell) ++host_.counters().timeouts;
    if (phase() == Phase::farewell || phase() == Phase::writing) {
      // The client does not read: what the kernel still holds for it goes too.
      error_code ignored;
      socket().set_option(asio::socket_base::linger(true, 0), ignored);
      return close();
    }
    is_timed_out_ = true;
    error_code ignored;
    socket().cancel(ignored);
    signal_.cancel();
  }

 private:
  Socket& socket() {
    if constexpr (kIsTls) {
      return stream_.next_layer();
    } else {
      return stream_;
    }
  }

  Awaitable<bool> shake_hands() {
    enter(Phase::handshake, host_.limits().header_deadline);
    if constexpr (kIsTls) {
      const auto [error] = co_await stream_.async_handshake(asio::ssl::stream_base::server, kToken);
      if (error) {
        ++host_.counters().handshake_failures;
        host_.note("tls.refused peer=" + http::describe(peer()) + " reason=\"" +
                   (is_timed_out_ ? std::string("timed out") : error.message()) + '"');
        co_return false;
      }
      request_.peer.certificate = facts_of_peer(stream_.native_handle());
    }
    co_return true;
  }

  Task serve() {
    enter(Phase::head, host_.limits().header_deadline);
    bool goes_on = co_await read_request();
    while (goes_on) {
      co_await answer();
      if (is_last_ || is_closed_) break;
      // The next answer joins these in one write if its request is here already.
      const bool is_more_here = !input_.empty() && outbox_.size() < host_.limits().pipelined_max;
      if (!is_more_here) goes_on = co_await flush();
      if (!is_more_here && host_.is_stopping()) break;
      if (goes_on) goes_on = co_await read_request();
    }
  }

  // False when there will be no further request; what there is to say about it is in the outbox.
  Awaitable<bool> read_request() {
    parser_.begin(request_);
    is_first_wait_ = has_served_;  // a new connection has been in its first phase from the start
    for (;;) {
      std::size_t consumed = 0;
      const Step step = parser_.read(input_.view(), consumed);
      input_.consume(consumed);
      if (step == Step::done) co_return true;
      if (step == Step::refused) {
        refuse(http::problem(parser_.status(), parser_.reason()));
        co_return false;
      }
      if (step == Step::head) {
        if (!admit()) co_return false;
        bool is_open = true;
        if (parser_.expects_continue() && input_.empty()) is_open = co_await say_continue();
        if (!is_open) co_return false;
        continue;
      }
      // A client may wait for the answers it has coming before it goes on.
      bool is_open = true;
      if (!outbox_.empty()) is_open = co_await flush();
      if (!is_open) co_return false;
      wait_for_input();
      is_open = co_await fill();
      if (!is_open) co_return false;
    }
  }

  // What we wait for now, and for how long. A phase that goes on keeps its deadline: a client that
  // sends a byte now and then gains nothing. The first wait for a request begins a phase anew, for
  // the one that is noted may be of a request before.
  void wait_for_input() {
    const http::Limits& limits = host_.limits();
    const bool is_anew = std::exchange(is_first_wait_, false);
    if (parser_.has_head()) {
      if (is_anew || phase() != Phase::body) enter(Phase::body, limits.request_deadline);
    } else if (parser_.has_begun()) {
      if (is_anew || phase() != Phase::head) enter(Phase::head, limits.header_deadline);
    } else if (is_anew) {
      enter(Phase::idle, limits.idle_deadline);
    }
  }

  Awaitable<bool> fill() {
    const auto room = input_.room(parser_.has_head() ? 0 : host_.limits().header_bytes_max);
    const auto [error, count] =
        co_await stream_.async_read_some(asio::buffer(room.data, room.size), kToken);
    if (!error && !is_timed_out_) {
      input_.commit(count);
      co_return true;
    }
    if (is_timed_out_ && !is_closed_ && parser_.has_begun()) {
      refuse(http::problem(408, "the rest of the request did not come in time"));
    }
    co_return false;
  }

  bool admit() {
    ports::Admission admission;
    try {
      admission = host_.handler().admit(request_);
    } catch (const std::exception& error) {
      admission.refusal = failed(error);
    }
    if (is_probe_only_ && !admission.is_probe) {
      http::Response full = http::problem(503, "there are too many connections; come back later");
      full.headers.add("Retry-After", "1");
      admission.refusal = std::move(full);
    }
    if (admission.refusal) {
      // With a body still to come, the place where the next request begins is unknown.
      std::size_t consumed = 0;
      const bool is_complete = parser_.allow_body(0) && parser_.read({}, consumed) == Step::done;
      if (!is_complete || is_probe_only_) {
        refuse(*std::move(admission.refusal));
        return false;
      }
      early_answer_ = *std::move(admission.refusal);
      return true;
    }
    if (parser_.allow_body(admission.body_bytes_max)) return true;
    refuse(http::problem(parser_.status(), parser_.reason()));
    return false;
  }

  http::Response failed(const std::exception& error) {
    host_.note("http.handler_failed target=" + request_.target + " reason=\"" + error.what() + '"');
    return http::problem(500, "the request failed inside the server");
  }

  Awaitable<bool> say_continue() {
    const bool is_open = co_await flush();
    if (!is_open) co_return false;
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    enter(Phase::writing, host_.limits().write_deadline);
    const auto [error, count] = co_await asio::async_write(
        stream_, asio::buffer(kContinue.data(), kContinue.size()), kToken);
    co_return !error;
  }

  Task answer() {
    if (early_answer_) {
      push(*std::exchange(early_answer_, std::nullopt));
      co_return;
    }
    if (slot_.use_count() > 1) slot_ = std::make_shared<Slot>();
    try {
      host_.handler().handle(request_, ports::Reply(slot_));
    } catch (const std::exception& error) {
      slot_->put(failed(error));
    }
    if (!slot_->is_filled()) {
      // Answers that are ready do not wait for the one that is not.
      const bool is_open = co_await flush();
      if (!is_open) co_return close();
      co_await wait_for_answer();
    }
    if (is_closed_) co_return;
    if (slot_->is_filled()) {
      push(slot_->take());
    } else {
      slot_->tell_of_the_end();
      slot_ = std::make_shared<Slot>();  // a late answer finds nobody
      push(http::problem(503, "the answer took too long"));
    }
  }

  Task wait_for_answer() {
    enter(Phase::answering, host_.limits().answer_deadline);
    slot_->wake(&signal_);
    SteadyTime silent_since = SteadyTime::max();
    while (!slot_->is_filled() && !is_timed_out_ && !is_closed_) {
      // Who works for nobody is told; the others need not be looked after.
      const bool is_watched = slot_->has_watcher();
      if (is_watched && is_gone(silent_since)) slot_->tell_of_the_end();
      signal_.expires_at(is_watched ? std::chrono::steady_clock::now() + kGoneEvery
                                    : SteadyTime::max());
      co_await signal_.async_wait(kToken);
    }
    slot_->wake(nullptr);
  }

  // `silent_since` is when the client was first seen to send no more; max() before.
  bool is_gone(SteadyTime& silent_since) {
    const Presence presence = presence_of(socket().native_handle());
    if (presence != Presence::silent) return presence == Presence::gone;
    const auto now = std::chrono::steady_clock::now();
    silent_since = std::min(silent_since, now);
    return now - silent_since >= host_.limits().half_closed_deadline;
  }

  // An answer after which the connection ends.
  void refuse(http::Response response) {
    ++host_.counters().bad_requests;
    response.closes = true;
    is_lingering_ = true;
    push(std::move(response));
  }

  void push(http::Answer answer) {
    ++host_.counters().requests;
    has_served_ = true;
    http::Outgoing outgoing(std::move(answer), request_);
    const bool closes =
        outgoing.closes() || !parser_.keeps_alive() || is_probe_only_ || host_.is_stopping();
    is_last_ = is_last_ || closes;
    const auto persistence = closes                     ? http::Persistence::close
                             : parser_.is_version_1_0() ? http::Persistence::keep_and_say_so
                                                        : http::Persistence::keep;
    outbox_.push(std::move(outgoing), host_.tail(persistence));
  }

  // Sends the outbox as one gathered write. False when the client has gone.
  Awaitable<bool> flush() {
    if (outbox_.empty()) co_return true;
    if constexpr (!kIsTls) {
      // Most answers fit into the kernel's buffer: no need to wait for anything.
      error_code error;
      const std::size_t count = stream_.write_some(outbox_.buffers(), error);
      outbox_.consume(count);
      if (error && error != asio::error::would_block) co_return false;
      if (outbox_.empty()) co_return true;
    }
    enter(Phase::writing, host_.limits().write_deadline);
    while (!outbox_.empty()) {
      error_code error;
      std::size_t count = 0;
      if constexpr (kIsTls) {
        std::tie(error, count) = co_await stream_.async_write_some(outbox_.window(), kToken);
      } else {
        std::tie(error, count) = co_await stream_.async_write_some(outbox_.buffers(), kToken);
      }
      outbox_.consume(count);
      if (error) co_return false;
    }
    co_return true;
  }

  // The last answers reach the client even if it is still sending: closing with unread input would
  // reset the connection under them.
  Task say_farewell() {
    const bool is_open = co_await flush();
    if (!is_open) co_return;
    enter(Phase::farewell, host_.limits().farewell_deadline);
    if constexpr (kIsTls) {
      co_await stream_.async_shutdown(kToken);
    }
    if (!is_lingering_ || is_closed_) co_return;
    error_code error;
    socket().shutdown(asio::socket_base::shutdown_send, error);
    std::size_t discarded = 0;
    std::array<char, 1024> bin;
    while (!error && discarded < kDiscardBytesMax) {
      const auto [failure, count] =
          co_await socket().async_read_some(asio::buffer(bin.data(), bin.size()), kToken);
      error = failure;
      discarded += count;
    }
  }

  std::shared_ptr<TlsStore::Context> context_;  // outlives the stream
  Stream stream_;
  RequestParser parser_;
  Input input_{kInputSizeFirst};
  Outbox outbox_;
  std::shared_ptr<Slot> slot_ = std::make_shared<Slot>();
  Timer signal_;
  std::optional<http::Response> early_answer_;
  bool has_served_ = false;
  bool is_first_wait_ = false;
  bool is_last_ = false;
  bool is_closed_ = false;
  bool is_lingering_ = false;
};

}  // namespace

std::shared_ptr<Session> make_session(SessionHost& host, Socket socket,
                                      std::shared_ptr<TlsStore::Context> tls, http::Peer peer,
                                      bool is_probe_only) {
  if (tls) {
    using TlsStream = asio::ssl::stream<Socket>;
    TlsStream stream(std::move(socket), *tls);
    return std::make_shared<StreamSession<TlsStream>>(host, std::move(stream), std::move(tls),
                                                      std::move(peer), is_probe_only);
  }
  error_code ignored;
  socket.non_blocking(true, ignored);
  return std::make_shared<StreamSession<Socket>>(host, std::move(socket), nullptr, std::move(peer),
                                                 is_probe_only);
}

}  // namespace fdbpack::http_server
