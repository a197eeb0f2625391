// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/http/answer.hpp"

#include "fdbpack/base/check.hpp"
#include "fdbpack/base/text.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace fdbpack::http {
namespace {

constexpr std::array<std::pair<int, std::string_view>, 29> kReasons{{
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Content"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
}};

bool has_length(int status) {
  return status >= 200 && status != 204 && status != 304;
}

// A line break in a value would let whoever chose it write fields or whole answers of his own.
void end_line(std::string& lead, std::size_t begin) {
  std::replace_if(
      lead.begin() + static_cast<std::ptrdiff_t>(begin), lead.end(),
      [](char c) { return c == '\r' || c == '\n' || c == '\0'; }, ' ');
  lead += "\r\n";
}

std::string status_line(int status, std::string_view phrase = "") {
  std::string line = "HTTP/1.1 " + std::to_string(status) + ' ';
  line += phrase.empty() ? reason(status) : phrase;
  end_line(line, 0);
  return line;
}

void append_field(std::string& lead, std::string_view name, std::string_view value) {
  const std::size_t begin = lead.size();
  lead.append(name).append(": ").append(value);
  end_line(lead, begin);
}

void append_content(std::string& lead, std::string_view type, std::size_t size) {
  if (size > 0 && !type.empty()) append_field(lead, "Content-Type", type);
  append_field(lead, "Content-Length", std::to_string(size));
}

std::string lead_of(const Response& response) {
  std::string lead = status_line(response.status, response.reason_phrase);
  if (has_length(response.status)) {
    append_content(lead, response.content_type, response.body.size());
  }
  for (std::size_t i = 0; i < response.headers.size(); ++i) {
    append_field(lead, response.headers[i].name, response.headers[i].value);
  }
  return lead;
}

std::string two_digits(unsigned number) {
  return {static_cast<char>('0' + number / 10 % 10), static_cast<char>('0' + number % 10)};
}

}  // namespace

std::string_view reason(int status) {
  for (const auto& [code, text] : kReasons) {
    if (code == status) return text;
  }
  return "Unknown";
}

std::string etag_of(std::string_view content) {
  // Two FNV-1a sums with different bases, together 128 bits: no secret, but no accident either.
  std::uint64_t a = 0xCBF29CE484222325U;
  std::uint64_t b = 0x6C62272E07BB0142U;
  for (const char c : content) {
    a = (a ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
    b = (b ^ static_cast<unsigned char>(c) ^ (a >> 32)) * 0x100000001B3U;
  }
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string result = "\"";
  for (const std::uint64_t word : {a, b}) {
    for (int shift = 60; shift >= 0; shift -= 4) {
      result += kHex[(word >> shift) & 0xF];
    }
  }
  return result + '"';
}

bool names_etag(std::string_view if_none_match, std::string_view etag) {
  if (text::trim(if_none_match) == "*") return true;
  // Tags may hold commas, so the list is walked by its quotes.
  for (std::size_t at = if_none_match.find('"'); at != if_none_match.npos;) {
    const std::size_t end = if_none_match.find('"', at + 1);
    if (end == if_none_match.npos) return false;
    if (if_none_match.substr(at, end + 1 - at) == etag) return true;
    at = if_none_match.find('"', end + 1);
  }
  return false;
}

PagePtr Page::make(std::string content_type, std::string body) {
  const std::shared_ptr<Page> page(new Page);
  page->body_ = std::move(body);
  page->etag_ = etag_of(page->body_);
  page->lead_ = status_line(200);
  append_content(page->lead_, content_type, page->body_.size());
  page->lead_not_modified_ = status_line(304);
  for (std::string* lead : {&page->lead_, &page->lead_not_modified_}) {
    append_field(*lead, "ETag", page->etag_);
    append_field(*lead, "Cache-Control", "no-cache");
  }
  return page;
}

Outgoing::Outgoing(Answer answer, const Request& request) {
  const bool is_head = request.method == Method::head;
  if (auto* page = std::get_if<PagePtr>(&answer)) {
    FDBPACK_CHECK(*page != nullptr);
    page_ = std::move(*page);
    const bool is_conditional = is_head || request.method == Method::get;
    // The common request has few fields and none of this name.
    const bool is_known = is_conditional && request.headers.count("If-None-Match") > 0 &&
                          names_etag(request.headers.joined("If-None-Match"), page_->etag());
    page_lead_ = is_known ? page_->lead_not_modified() : page_->lead();
    status_ = is_known ? 304 : 200;
    has_body_ = !is_head && !is_known;
    return;
  }
  auto& response = std::get<Response>(answer);
  lead_ = lead_of(response);
  status_ = response.status;
  closes_ = response.closes;
  has_body_ = !is_head && has_length(response.status);
  body_ = std::move(response.body);
}

std::string http_date(WallTime time) {
  using namespace std::chrono;
  constexpr std::string_view kDays = "SunMonTueWedThuFriSat";
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const auto day = floor<days>(time);
  const year_month_day date{day};
  const hh_mm_ss clock{floor<seconds>(time - day)};
  std::string result(kDays.substr(weekday(day).c_encoding() * 3, 3));
  result += ", " + two_digits(static_cast<unsigned>(date.day())) + ' ';
  result += kMonths.substr((static_cast<unsigned>(date.month()) - 1) * 3, 3);
  result += ' ' + std::to_string(static_cast<int>(date.year())) + ' ';
  result += two_digits(static_cast<unsigned>(clock.hours().count())) + ':';
  result += two_digits(static_cast<unsigned>(clock.minutes().count())) + ':';
  result += two_digits(static_cast<unsigned>(clock.seconds().count())) + " GMT";
  return result;
}

std::string tail_of(WallTime now, Persistence persistence) {
  std::string tail = "Date: " + http_date(now) + "\r\n";
  if (persistence == Persistence::close) tail += "Connection: close\r\n";
  if (persistence == Persistence::keep_and_say_so) tail += "Connection: keep-alive\r\n";
  return tail + "\r\n";
}

}  // namespace fdbpack::http
