// SPDX-License-Identifier: Apache-2.0
//
// Bytes in, a Request out. Holds Beast's parser, and no socket: the same path runs in the fuzzer.
//
//   begin() ──read()──> need_more … ──> head ──allow_body()──read()──> need_more … ──> done
//                 └───────────────────────┴──────────────────────────────────┴──> refused
//
// Refused are, besides what Beast refuses (both lengths, broken chunks, unknown versions): codings
// other than chunked, a second Host, no Host in HTTP/1.1, and more than the limits allow.
#pragma once

#include "fdbpack/http/limits.hpp"
#include "fdbpack/http/message.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace fdbpack::http_server {

class RequestParser {
 public:
  enum class Step { need_more, head, done, refused };

  explicit RequestParser(const http::Limits& limits);
  ~RequestParser();
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  // Makes ready for the next request, which goes into `into`; its peer stays as it is.
  void begin(http::Request& into);
  // Takes what it can from the front of `input` and says how much in `consumed`.
  [[nodiscard]] Step read(std::string_view input, std::size_t& consumed);
  // After head. False when the body is known to be larger; the parser has then refused it.
  [[nodiscard]] bool allow_body(std::size_t bytes_max);

  [[nodiscard]] bool has_begun() const;  // a byte of this request has been seen
  [[nodiscard]] bool has_head() const;
  [[nodiscard]] bool keeps_alive() const;
  [[nodiscard]] bool is_version_1_0() const;
  [[nodiscard]] bool expects_continue() const;  // and has a body to send
  // After refused.
  [[nodiscard]] int status() const;
  [[nodiscard]] const std::string& reason() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fdbpack::http_server
