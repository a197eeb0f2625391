// SPDX-License-Identifier: Apache-2.0
//
// One connection, from the handshake to the last byte.
//
//            ┌────────────────── keep-alive ───────────────────┐
//   handshake ─> head ─> body ─> answering ─> writing ─> idle ─┘   (first byte: head)
//                                                └─> farewell ─> closed
//
// Each phase has a deadline; the server calls expire() when it has passed. `handshake`, `head`
// and `idle` are phases in which we wait for the client and owe nothing: such a connection may be
// evicted for another.
//
// Runs on the server's thread. The coroutine and the server share the object; nothing else does.
#pragma once

#include "adapters/http/request_parser.hpp"
#include "adapters/http/tls_store.hpp"
#include "fdbpack/http/answer.hpp"
#include "ports/http_handler.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace fdbpack::http_server {

// A concrete executor: the erased one costs a third of the throughput.
using Executor = boost::asio::io_context::executor_type;
using Socket = boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol, Executor>;
using Task = boost::asio::awaitable<void, Executor>;
using SteadyTime = std::chrono::steady_clock::time_point;

struct Counters {
  std::uint64_t connections = 0;  // accepted
  std::uint64_t refused = 0;      // closed at once, there was no room
  std::uint64_t evicted = 0;      // gave way to another
  std::uint64_t requests = 0;     // answered, errors too
  std::uint64_t bad_requests = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t handshake_failures = 0;
  std::uint64_t accept_errors = 0;
  std::uint64_t tls_renewals = 0;
  std::uint64_t tls_renewal_failures = 0;
};

// What a session needs of its server.
class SessionHost {
 public:
  virtual ~SessionHost() = default;
  [[nodiscard]] virtual boost::asio::io_context& io() = 0;
  [[nodiscard]] virtual const http::Limits& limits() const = 0;
  [[nodiscard]] virtual ports::HttpHandler& handler() = 0;
  [[nodiscard]] virtual Counters& counters() = 0;
  [[nodiscard]] virtual bool is_stopping() const = 0;
  // The end of a head as of now; shared, because writes take time.
  [[nodiscard]] virtual std::shared_ptr<const std::string> tail(http::Persistence persistence) = 0;
  // A session has this deadline now; see Session::deadline().
  virtual void watch(SteadyTime deadline) = 0;
  virtual void note(std::string_view what) = 0;
};

class Session {
 public:
  enum class Phase { handshake, head, body, answering, writing, idle, farewell };

  virtual ~Session() = default;

  [[nodiscard]] virtual Task run() = 0;
  // Ends at once; run() returns soon after.
  virtual void close() = 0;
  // The deadline has passed.
  void expire() {
    deadline_ = SteadyTime::max();
    interrupt();
  }

  [[nodiscard]] Phase phase() const { return phase_; }
  [[nodiscard]] SteadyTime since() const { return since_; }
  [[nodiscard]] SteadyTime deadline() const { return deadline_; }
  [[nodiscard]] const http::Peer& peer() const { return request_.peer; }
  [[nodiscard]] bool is_probe_only() const { return is_probe_only_; }
  [[nodiscard]] bool is_waiting_for_client() const {
    return phase_ == Phase::handshake || phase_ == Phase::head || phase_ == Phase::idle;
  }

 protected:
  Session(SessionHost& host, http::Peer peer, bool is_probe_only)
      : host_(host), is_probe_only_(is_probe_only) {
    request_.peer = std::move(peer);
  }
  void enter(Phase phase, std::chrono::milliseconds limit);
  virtual void interrupt() = 0;
  // The phase's deadline has passed. What came at the same moment may have ended the phase
  // nevertheless; the next one begins without it.
  bool is_timed_out_ = false;

  SessionHost& host_;
  http::Request request_;
  const bool is_probe_only_;

 private:
  Phase phase_ = Phase::head;
  SteadyTime since_ = SteadyTime::min();
  SteadyTime deadline_ = SteadyTime::max();
};

// `tls` is null for a plain connection.
[[nodiscard]] std::shared_ptr<Session> make_session(SessionHost& host, Socket socket,
                                                    std::shared_ptr<TlsStore::Context> tls,
                                                    http::Peer peer, bool is_probe_only);

}  // namespace fdbpack::http_server
