// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/http/answer.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace fdbpack::http {
namespace {

Request request(Method method, const std::string& if_none_match = "") {
  Request result;
  result.method = method;
  if (!if_none_match.empty()) result.headers.add("If-None-Match", if_none_match);
  return result;
}

TEST(Page, IsSentWithItsTag) {
  const PagePtr page = Page::make("application/json", "{}\n");
  const Outgoing answer(page, request(Method::get));
  EXPECT_EQ(answer.lead(),
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 3\r\nETag: " +
                page->etag() + "\r\nCache-Control: no-cache\r\n");
  EXPECT_EQ(answer.body(), "{}\n");
  EXPECT_EQ(answer.status(), 200);
  EXPECT_FALSE(answer.closes());
}

TEST(Page, IsNotSentAgainToWhoHasIt) {
  const PagePtr page = Page::make("text/plain", "x");
  for (const auto& known :
       {page->etag(), "W/" + page->etag(), "\"a,b\", " + page->etag(), std::string("*")}) {
    for (const Method method : {Method::get, Method::head}) {
      const Outgoing answer(page, request(method, known));
      EXPECT_EQ(answer.status(), 304) << known;
      EXPECT_EQ(answer.body(), "");
      EXPECT_EQ(answer.lead(), "HTTP/1.1 304 Not Modified\r\nETag: " + page->etag() +
                                   "\r\nCache-Control: no-cache\r\n");
    }
  }
  for (const std::string other : {"\"x\"", "\"", "a", "W/"}) {
    EXPECT_EQ(Outgoing(page, request(Method::get, other)).status(), 200) << other;
  }
  EXPECT_EQ(Outgoing(page, request(Method::post, page->etag())).status(), 200);
}

TEST(Page, HasNoBodyForHead) {
  const PagePtr page = Page::make("text/plain", "hello");
  const Outgoing answer(page, request(Method::head));
  EXPECT_EQ(answer.lead(), Outgoing(page, request(Method::get)).lead());
  EXPECT_EQ(answer.body(), "");
}

TEST(Etag, ChangesWithTheContent) {
  EXPECT_EQ(etag_of("a"), etag_of("a"));
  EXPECT_NE(etag_of("a"), etag_of("b"));
  EXPECT_NE(etag_of(""), etag_of(std::string(1, '\0')));
  EXPECT_EQ(etag_of("a").size(), 34U);
}

TEST(Response, SaysWhatItCarries) {
  Response response{404, "text/plain", "no\n", {}, true};
  response.headers.add("Allow", "GET");
  const Outgoing answer(response, request(Method::get));
  EXPECT_EQ(answer.lead(),
            "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n"
            "Allow: GET\r\n");
  EXPECT_EQ(answer.body(), "no\n");
  EXPECT_TRUE(answer.closes());
  EXPECT_EQ(Outgoing(Response{204, "text/plain", "x", {}, false}, request(Method::get)).body(), "");
  EXPECT_EQ(Outgoing(Response{204, "text/plain", "x", {}, false}, request(Method::get)).lead(),
            "HTTP/1.1 204 No Content\r\n");
  EXPECT_EQ(Outgoing(Response{200, "text/plain", "", {}, false}, request(Method::get)).lead(),
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n");
}

TEST(Response, MayHaveAReasonOfItsOwn) {
  Response response{404, "text/plain", "no\n", {}, false};
  response.reason_phrase = "x not found\r\nSet-Cookie: a";
  const Outgoing answer(response, request(Method::get));
  EXPECT_TRUE(answer.lead().starts_with("HTTP/1.1 404 x not found  Set-Cookie: a\r\nContent-"))
      << answer.lead();
}

TEST(Response, CannotBeSplitByAValue) {
  Response response;
  response.headers.add("Location", "/x\r\nSet-Cookie: a\n\nHTTP/1.1 200 OK");
  const Outgoing answer(response, request(Method::get));
  EXPECT_EQ(answer.lead().find("\r\nSet-Cookie"), std::string_view::npos);
  EXPECT_EQ(answer.lead().find("\n\n"), std::string_view::npos);
  EXPECT_EQ(answer.lead().find("\nHTTP"), std::string_view::npos);
}

TEST(Problem, IsJsonWhateverTheDetailHolds) {
  const std::string detail =
      "bad \"x\\\" \x01\x7f\r\n \xc3\xa9 \xff\xc3 \xed\xa0\x80 \xf0\x9f\x98\x80";
  const Response response = problem(431, detail);
  EXPECT_EQ(response.content_type, "application/problem+json");
  const auto json = nlohmann::json::parse(response.body);
  EXPECT_EQ(json["type"], "about:blank");
  EXPECT_EQ(json["title"], "Request Header Fields Too Large");
  EXPECT_EQ(json["status"], 431);
  EXPECT_EQ(json["detail"],
            "bad \"x\\\" \x01\x7f\r\n \xc3\xa9 \xef\xbf\xbd\xef\xbf\xbd "
            "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd \xf0\x9f\x98\x80");
}

TEST(Problem, TakesItsStatusFromTheError) {
  EXPECT_EQ(problem(Error{ErrorCode::not_found, "x"}).status, 404);
  EXPECT_EQ(problem(Error{ErrorCode::invalid_argument, "x"}).status, 400);
  EXPECT_EQ(problem(Error{ErrorCode::permission_denied, "x"}).status, 403);
  EXPECT_EQ(problem(Error{ErrorCode::conflict, "x"}).status, 409);
  EXPECT_EQ(problem(Error{ErrorCode::unavailable, "x"}).status, 503);
}

TEST(Date, IsWrittenAsHttpWantsIt) {
  using namespace std::chrono;
  EXPECT_EQ(http_date(WallTime(milliseconds(784111777'999))), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(http_date(WallTime(milliseconds(951782400'000))), "Tue, 29 Feb 2000 00:00:00 GMT");
  EXPECT_EQ(tail_of(WallTime(), Persistence::keep), "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n\r\n");
  EXPECT_EQ(tail_of(WallTime(), Persistence::close),
            "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(tail_of(WallTime(), Persistence::keep_and_say_so),
            "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\nConnection: keep-alive\r\n\r\n");
}

}  // namespace
}  // namespace fdbpack::http
