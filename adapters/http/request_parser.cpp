// SPDX-License-Identifier: Apache-2.0
#include "adapters/http/request_parser.hpp"

#include "fdbpack/base/check.hpp"
#include "fdbpack/base/text.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <optional>

namespace fdbpack::http_server {
namespace {

namespace beast = boost::beast;
using beast::error_code;
using BeastError = beast::http::error;

std::string_view view(beast::string_view text) {
  return {text.data(), text.size()};
}

// Whether the first line has three words of which the last is a version, if not one of ours.
bool has_version(std::string_view text) {
  const auto words = text::split_words(text.substr(0, text.find('\n')));
  return words.size() == 3 && words[2].starts_with("HTTP/");
}

// Beast's parser with the request as its store: nothing is copied twice.
class Sink final : public beast::http::basic_parser<true> {
 public:
  Sink(http::Request& into, const http::Limits& limits) : into_(into), limits_(limits) {
    // What Beast holds against its limit depends on how the head is cut into reads, so its limit is
    // only a bound on memory; Impl::read counts.
    header_limit(static_cast<std::uint32_t>(2 * limits.header_bytes_max + 2));
    body_limit(boost::none);  // the caller knows the limit only after the head
    eager(false);
  }

  int version = 11;
  int status = 0;  // set with the reason when we refuse and not Beast
  std::string reason;
  std::size_t body_bytes_max = 0;

 private:
  void refuse(int with, std::string why, error_code& error) {
    status = with;
    reason = std::move(why);
    error = BeastError::bad_value;
  }

  void on_request_impl(beast::http::verb, beast::string_view method, beast::string_view target,
                       int number, error_code& error) override {
    version = number;
    if (target.size() > limits_.target_bytes_max) {
      return refuse(
          414, "the target is longer than " + std::to_string(limits_.target_bytes_max) + " bytes",
          error);
    }
    into_.method_name = view(method);
    into_.method = http::method_of(into_.method_name);
    into_.target = view(target);
  }

  void on_field_impl(beast::http::field field, beast::string_view name, beast::string_view value,
                     error_code& error) override {
    if (++fields_ > limits_.header_fields_max) {
      return refuse(
          431,
          "there are more than " + std::to_string(limits_.header_fields_max) + " header fields",
          error);
    }
    if (is_header_done()) return;  // trailers add nothing
    if (field == beast::http::field::transfer_encoding) {
      // Beast reads other codings as no body, which a proxy in front may see differently.
      if (text::compare_ignoring_case(text::trim(view(value)), "chunked") != 0) {
        return refuse(501, "the only transfer coding is chunked", error);
      }
      if (version < 11) return refuse(400, "HTTP/1.0 has no transfer codings", error);
    }
    into_.headers.add(view(name), view(value));
  }

  void on_header_impl(error_code& error) override {
    const std::size_t hosts = into_.headers.count("Host");
    if (hosts > 1) return refuse(400, "there is more than one Host field", error);
    if (hosts == 0 && version >= 11) refuse(400, "the Host field is missing", error);
  }

  void on_body_init_impl(const boost::optional<std::uint64_t>& size, error_code&) override {
    if (size) into_.body.reserve(std::min<std::size_t>(*size, body_bytes_max));
  }

  std::size_t append(beast::string_view data, error_code& error) {
    if (data.size() > body_bytes_max - into_.body.size()) {
      refuse(413, "the body is larger than " + std::to_string(body_bytes_max) + " bytes", error);
      return 0;
    }
    into_.body += view(data);
    return data.size();
  }

  std::size_t on_body_impl(beast::string_view data, error_code& error) override {
    return append(data, error);
  }
  void on_chunk_header_impl(std::uint64_t size, beast::string_view, error_code& error) override {
    if (size > body_bytes_max - into_.body.size()) {
      refuse(413, "the body is larger than " + std::to_string(body_bytes_max) + " bytes", error);
    }
  }
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view data,
                                 error_code& error) override {
    return append(data, error);
  }
  void on_finish_impl(error_code&) override {}
  void on_response_impl(int, beast::string_view, int, error_code&) override {
    FDBPACK_UNREACHABLE();
  }

  http::Request& into_;
  const http::Limits& limits_;
  std::size_t fields_ = 0;
};

}  // namespace

class RequestParser::Impl {
 public:
  explicit Impl(const http::Limits& limits) : limits_(limits) {}

  void begin(http::Request& into) {
    into.method = http::Method::unknown;
    into.method_name.clear();
    into.target.clear();
    into.headers.clear();
    into.body.clear();
    request_ = &into;
    sink_.emplace(into, limits_);
    has_begun_ = false;
    has_shown_head_ = false;
    head_bytes_ = 0;
    status_ = 0;
    reason_.clear();
  }

  Step read(std::string_view input, std::size_t& consumed) {
    consumed = 0;
    if (status_ != 0) return Step::refused;
    // RFC 9112 2.2: an empty line before the request line is no offence.
    while (!has_begun_ && consumed < input.size() &&
           (input[consumed] == '\r' || input[consumed] == '\n')) {
      ++consumed;
    }
    while (!sink_->is_done() && consumed < input.size()) {
      has_begun_ = true;
      const std::string_view rest = input.substr(consumed);
      // The last chunk's header without the line behind it: Beast takes it, and then asserts that
      // the next call brings two bytes more. One may come alone.
      if (has_shown_head_ && sink_->chunked() && rest == "0\r\n") break;
      error_code error;
      const std::size_t taken = sink_->put({rest.data(), rest.size()}, error);
      consumed += taken;
      if (!has_shown_head_) {
        head_bytes_ += taken;
        // Bytes behind an unfinished head belong to it.
        const std::size_t waiting = sink_->is_header_done() ? 0 : rest.size() - taken;
        const bool is_ours = !error || error == BeastError::need_more;
        if (is_ours && head_bytes_ + waiting > limits_.header_bytes_max) {
          return refuse(make_error_code(BeastError::header_limit), rest);
        }
      }
      if (error && error != BeastError::need_more) return refuse(error, rest);
      if (sink_->is_header_done() && !has_shown_head_) {
        has_shown_head_ = true;
        return Step::head;
      }
      if (error == BeastError::need_more) break;
    }
    if (!sink_->is_done()) return Step::need_more;
    return Step::done;
  }

  bool allow_body(std::size_t bytes_max) {
    FDBPACK_CHECK(has_shown_head_);
    sink_->body_bytes_max = bytes_max;
    const auto length = sink_->content_length();
    if (!length || *length <= bytes_max) return true;
    status_ = 413;
    reason_ = "the body is larger than " + std::to_string(bytes_max) + " bytes";
    return false;
  }

  bool expects_continue() const {
    if (is_version_1_0() || sink_->is_done()) return false;
    const auto expect = request_->headers.find("Expect");
    return expect && text::compare_ignoring_case(*expect, "100-continue") == 0;
  }

  bool has_begun() const { return has_begun_; }
  bool has_head() const { return has_shown_head_; }
  bool keeps_alive() const { return has_shown_head_ && sink_->keep_alive(); }
  bool is_version_1_0() const { return has_shown_head_ && sink_->version < 11; }
  int status() const { return status_; }
  const std::string& reason() const { return reason_; }

 private:
  Step refuse(const error_code& error, std::string_view rest) {
    if (sink_->status != 0) {
      status_ = sink_->status;
      reason_ = sink_->reason;
    } else if (error == BeastError::header_limit || error == BeastError::buffer_overflow) {
      const bool is_target = !has_shown_head_ && request_->target.empty() &&
                             rest.substr(0, limits_.header_bytes_max).find('\n') == rest.npos;
      status_ = is_target ? 414 : 431;
      reason_ = std::string(is_target ? "the request line" : "the header") + " is longer than " +
                std::to_string(limits_.header_bytes_max) + " bytes";
    } else if (error == BeastError::bad_version && has_version(rest)) {
      status_ = 505;
      reason_ = "there are HTTP/1.1 and HTTP/1.0 here";
    } else {
      status_ = 400;
      reason_ = "the request is malformed: " + error.message();
    }
    return Step::refused;
  }

  const http::Limits limits_;
  http::Request* request_ = nullptr;
  std::optional<Sink> sink_;
  bool has_begun_ = false;
  bool has_shown_head_ = false;
  std::size_t head_bytes_ = 0;  // taken so far
  int status_ = 0;
  std::string reason_;
};

RequestParser::RequestParser(const http::Limits& limits) : impl_(std::make_unique<Impl>(limits)) {}
RequestParser::~RequestParser() = default;
void RequestParser::begin(http::Request& into) {
  impl_->begin(into);
}
RequestParser::Step RequestParser::read(std::string_view input, std::size_t& consumed) {
  return impl_->read(input, consumed);
}
bool RequestParser::allow_body(std::size_t bytes_max) {
  return impl_->allow_body(bytes_max);
}
bool RequestParser::has_begun() const {
  return impl_->has_begun();
}
bool RequestParser::has_head() const {
  return impl_->has_head();
}
bool RequestParser::keeps_alive() const {
  return impl_->keeps_alive();
}
bool RequestParser::is_version_1_0() const {
  return impl_->is_version_1_0();
}
bool RequestParser::expects_continue() const {
  return impl_->expects_continue();
}
int RequestParser::status() const {
  return impl_->status();
}
const std::string& RequestParser::reason() const {
  return impl_->reason();
}

}  // namespace fdbpack::http_server
