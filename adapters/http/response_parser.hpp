// SPDX-License-Identifier: Apache-2.0
//
// Bytes in, an answer out. Holds Beast's parser, and no socket.
//
//   begin() ──read()──> need_more … ──> head ──read()──> need_more … ──> done
//                 └───────────────────────┴──────────────────────────────┴──> refused
//
// The body grows in `answer.body`; whoever wants it in pieces takes it out between two reads.
#pragma once

#include "ports/http_client.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace fdbpack::http_client {

class ResponseParser {
 public:
  enum class Step { need_more, head, done, refused };

  ResponseParser();
  ~ResponseParser();
  ResponseParser(const ResponseParser&) = delete;
  ResponseParser& operator=(const ResponseParser&) = delete;

  // Makes ready for the next answer. `has_no_body`: it is one to HEAD.
  void begin(ports::HttpAnswer& into, std::size_t body_bytes_max, bool has_no_body);
  // Takes what it can from the front of `input` and says how much in `consumed`.
  [[nodiscard]] Step read(std::string_view input, std::size_t& consumed);
  // The server has closed: the end of some answers, a refusal of all others.
  [[nodiscard]] Step read_end();

  [[nodiscard]] bool has_begun() const;  // a byte of this answer has been seen
  [[nodiscard]] bool keeps_alive() const;
  [[nodiscard]] const std::string& reason() const;  // after refused

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fdbpack::http_client
