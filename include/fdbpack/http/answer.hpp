// SPDX-License-Identifier: Apache-2.0
//
// What is sent back.
//
//   Response   made for one request
//   Page       made once when something changed, sent many times: its head and its ETag are ready,
//              and all connections share its bytes
//
//   on the wire:  |lead: status line and fields|tail: Date, Connection, blank line|body|
//                  ready in a Page              the same for all within a second    shared
#pragma once

#include "fdbpack/base/instant.hpp"
#include "fdbpack/base/result.hpp"
#include "fdbpack/http/headers.hpp"
#include "fdbpack/http/message.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <variant>

namespace fdbpack::http {

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  Headers headers;                 // besides Content-Type, Content-Length, Date and Connection
  bool closes = false;             // the connection is of no use after this answer
  std::string reason_phrase = "";  // empty: the usual one of the status
};

// The reason phrase: "Not Found".
[[nodiscard]] std::string_view reason(int status);

// A quoted tag that changes with the content.
[[nodiscard]] std::string etag_of(std::string_view content);
// Whether the value of an If-None-Match field names this tag; "W/" makes no difference there.
[[nodiscard]] bool names_etag(std::string_view if_none_match, std::string_view etag);

class Page {
 public:
  [[nodiscard]] static std::shared_ptr<const Page> make(std::string content_type, std::string body);

  [[nodiscard]] const std::string& body() const { return body_; }
  [[nodiscard]] const std::string& etag() const { return etag_; }
  [[nodiscard]] const std::string& lead() const { return lead_; }
  [[nodiscard]] const std::string& lead_not_modified() const { return lead_not_modified_; }

 private:
  Page() = default;
  std::string body_, etag_, lead_, lead_not_modified_;
};

using PagePtr = std::shared_ptr<const Page>;
using Answer = std::variant<Response, PagePtr>;

// An answer ready to be sent. The views are of what it owns.
class Outgoing {
 public:
  // HEAD and 304 have no body; a request with If-None-Match may get a 304 from a Page.
  Outgoing(Answer answer, const Request& request);

  [[nodiscard]] std::string_view lead() const { return page_ ? page_lead_ : lead_; }
  [[nodiscard]] std::string_view body() const {
    return has_body_ ? (page_ ? std::string_view(page_->body()) : std::string_view(body_))
                     : std::string_view();
  }
  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] bool closes() const { return closes_; }

 private:
  PagePtr page_;
  std::string_view page_lead_;
  std::string lead_, body_;
  int status_ = 200;
  bool has_body_ = true;
  bool closes_ = false;
};

// "Sun, 06 Nov 1994 08:49:37 GMT"
[[nodiscard]] std::string http_date(WallTime time);
// "Date: …\r\n[Connection: …\r\n]\r\n"
enum class Persistence { keep, keep_and_say_so, close };
[[nodiscard]] std::string tail_of(WallTime now, Persistence persistence);

// An error as application/problem+json (RFC 9457): type, title, status, detail.
[[nodiscard]] Response problem(int status, std::string_view detail);
[[nodiscard]] int status_of(ErrorCode code);
[[nodiscard]] Response problem(const Error& error);

}  // namespace fdbpack::http
