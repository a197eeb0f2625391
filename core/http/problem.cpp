// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/base/check.hpp"
#include "fdbpack/http/answer.hpp"

#include <cstdint>

namespace fdbpack::http {
namespace {

// How many bytes of `text` from `at` are one UTF-8 character; 0 if they are none.
std::size_t utf8_size(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(at);
  const std::size_t size = first < 0x80                    ? 1
                           : first >= 0xC2 && first < 0xE0 ? 2
                           : first >= 0xE0 && first < 0xF0 ? 3
                           : first >= 0xF0 && first < 0xF5 ? 4
                                                           : 0;
  if (size == 0 || at + size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(at + i) & 0xC0U) != 0x80U) return 0;
  }
  if (size < 3) return size;
  const unsigned second = byte(at + 1);
  const bool is_overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool is_outside = (first == 0xED && second >= 0xA0) || (first == 0xF4 && second >= 0x90);
  return is_overlong || is_outside ? 0 : size;
}

// A JSON string. Details may quote what a client sent, so every byte is looked at.
std::string quoted(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string result = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
      ++at;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      result += "\\u00";
      result += kHex[static_cast<unsigned char>(c) >> 4U];
      result += kHex[static_cast<unsigned char>(c) & 0xFU];
      ++at;
    } else if (const std::size_t size = utf8_size(text, at); size > 0) {
      result += text.substr(at, size);
      at += size;
    } else {
      result += "\\ufffd";
      ++at;
    }
  }
  return result + '"';
}

}  // namespace

Response problem(int status, std::string_view detail) {
  Response response;
  response.status = status;
  response.content_type = "application/problem+json";
  response.body = R"({"type":"about:blank","title":)" + quoted(reason(status)) + R"(,"status":)" +
                  std::to_string(status) + R"(,"detail":)" + quoted(detail) + "}\n";
  return response;
}

int status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return 400;
    case ErrorCode::not_found:
      return 404;
    case ErrorCode::already_exists:
    case ErrorCode::conflict:
      return 409;
    case ErrorCode::precondition:
      return 412;
    case ErrorCode::unavailable:
      return 503;
    case ErrorCode::timed_out:
      return 504;
    case ErrorCode::permission_denied:
      return 403;
    case ErrorCode::unsupported:
      return 501;
    case ErrorCode::corrupt:
    case ErrorCode::internal:
      return 500;
  }
  FDBPACK_UNREACHABLE();
}

Response problem(const Error& error) {
  return problem(status_of(error.code), error.message);
}

}  // namespace fdbpack::http
