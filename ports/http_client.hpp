// SPDX-License-Identifier: Apache-2.0
//
// One HTTP server, asked over one connection that is kept open between calls.
//
//   call()     a question and its whole answer
//   stream()   a question whose answer goes on: its lines are told one by one, as they come
//
//   queued ──► connecting ──► sending ──► answering ──► told
//      └────────────┴─────────────┴───────────┴──► told why not
//
// A call made while another runs waits for it; its deadline begins when it was made. Everything is
// told later, never from inside a call, on the caller's thread.
//
//   ErrorCode::unavailable   there was no connection: the server has seen nothing of the request
//
// and after something was sent, so that the server may have done what it was asked:
//
//   ErrorCode::timed_out     the deadline passed
//   ErrorCode::internal      the connection broke
//   ErrorCode::corrupt       the answer is no HTTP, or too large
//
// An answer of any status is an answer, not an error.
#pragma once

#include "fdbpack/base/instant.hpp"
#include "fdbpack/base/result.hpp"
#include "fdbpack/http/headers.hpp"
#include "fdbpack/http/message.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace fdbpack::ports {

struct HttpRequest {
  http::Method method = http::Method::get;
  std::string target = "/";
  http::Headers headers;  // besides Host and Content-Length
  std::string body;
  Duration deadline = std::chrono::seconds(10);  // until the answer is complete; stream: its head
  std::size_t body_bytes_max = std::size_t{16} << 20;  // of the answer; stream: of one line
  // May be sent twice: when a connection that was kept open proves dead, it is, on a new one.
  bool is_repeatable = false;
};

struct HttpAnswer {
  int status = 0;
  http::Headers headers;
  std::string body;  // of a stream that went well: what came behind its last line
};

// A call under way. Dropping it gives it up: nothing is told any more. What was sent was sent.
class HttpCall {
 public:
  virtual ~HttpCall() = default;
};

class HttpClient {
 public:
  virtual ~HttpClient() = default;  // gives up all calls

  using OnAnswer = std::function<void(Result<HttpAnswer>)>;
  using OnLine = std::function<void(std::string_view line)>;
  [[nodiscard]] virtual std::unique_ptr<HttpCall> call(HttpRequest request, OnAnswer on_answer) = 0;
  // Lines of an answer with status 200, without their newline. `on_end` is called once, at the end
  // of the answer or with what cut it short; any other status ends it like a call.
  [[nodiscard]] virtual std::unique_ptr<HttpCall> stream(HttpRequest request, OnLine on_line,
                                                         OnAnswer on_end) = 0;
};

}  // namespace fdbpack::ports
