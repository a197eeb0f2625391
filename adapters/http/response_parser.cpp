// SPDX-License-Identifier: Apache-2.0
#include "adapters/http/response_parser.hpp"

#include "fdbpack/base/check.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <optional>

namespace fdbpack::http_client {
namespace {

namespace beast = boost::beast;
using beast::error_code;
using BeastError = beast::http::error;
constexpr std::uint32_t kHeaderBytesMax = 64 * 1024;

std::string_view view(beast::string_view text) {
  return {text.data(), text.size()};
}

// Beast's parser with the answer as its store.
class Sink final : public beast::http::basic_parser<false> {
 public:
  Sink(ports::HttpAnswer& into, std::size_t body_bytes_max, bool has_no_body)
      : into_(into), body_bytes_max_(body_bytes_max) {
    header_limit(kHeaderBytesMax);
    body_limit(boost::none);  // ours counts what is held, not what has come
    eager(false);
    skip(has_no_body);
  }

  bool is_too_large = false;

 private:
  void on_request_impl(beast::http::verb, beast::string_view, beast::string_view, int,
                       error_code&) override {
    FDBPACK_UNREACHABLE();
  }
  void on_response_impl(int code, beast::string_view, int, error_code&) override {
    into_.status = code;
  }
  void on_field_impl(beast::http::field, beast::string_view name, beast::string_view value,
                     error_code&) override {
    if (!is_header_done()) into_.headers.add(view(name), view(value));  // trailers add nothing
  }
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>& size, error_code&) override {
    if (size) into_.body.reserve(std::min<std::size_t>(*size, body_bytes_max_));
  }
  std::size_t append(beast::string_view data, error_code& error) {
    if (data.size() > body_bytes_max_ - std::min(body_bytes_max_, into_.body.size())) {
      is_too_large = true;
      error = BeastError::body_limit;
      return 0;
    }
    into_.body += view(data);
    return data.size();
  }
  std::size_t on_body_impl(beast::string_view data, error_code& error) override {
    return append(data, error);
  }
  void on_chunk_header_impl(std::uint64_t, beast::string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view data,
                                 error_code& error) override {
    return append(data, error);
  }
  void on_finish_impl(error_code&) override {}

  ports::HttpAnswer& into_;
  const std::size_t body_bytes_max_;
};

}  // namespace

class ResponseParser::Impl {
 public:
  void begin(ports::HttpAnswer& into, std::size_t body_bytes_max, bool has_no_body) {
    into_ = &into;
    body_bytes_max_ = body_bytes_max;
    has_no_body_ = has_no_body;
    has_begun_ = false;
    reason_.clear();
    restart();
  }

  Step read(std::string_view input, std::size_t& consumed) {
    consumed = 0;
    while (!sink_->is_done() && consumed < input.size()) {
      has_begun_ = true;
      const std::string_view rest = input.substr(consumed);
      // The last chunk's header without the line behind it: Beast takes it, and then asserts that
      // the next call brings two bytes more. One may come alone.
      if (has_shown_head_ && sink_->chunked() && rest == "0\r\n") break;
      error_code error;
      consumed += sink_->put({rest.data(), rest.size()}, error);
      if (error && error != BeastError::need_more) return refuse(error);
      if (sink_->is_header_done() && !has_shown_head_) {
        if (into_->status / 100 == 1) {  // "100 Continue" and the like announce the real one
          restart();
          continue;
        }
        has_shown_head_ = true;
        return Step::head;
      }
      if (error == BeastError::need_more) break;
    }
    return sink_->is_done() ? Step::done : Step::need_more;
  }

  Step read_end() {
    error_code error;
    if (has_begun_) sink_->put_eof(error);
    if (!has_begun_ || error || !sink_->is_done()) {
      reason_ = has_begun_ ? "the connection was closed in the middle of the answer"
                           : "the connection was closed before the answer";
      return Step::refused;
    }
    return Step::done;
  }

  bool has_begun() const { return has_begun_; }
  bool keeps_alive() const { return has_shown_head_ && sink_->keep_alive(); }
  const std::string& reason() const { return reason_; }

 private:
  void restart() {
    *into_ = {};
    sink_.emplace(*into_, body_bytes_max_, has_no_body_);
    has_shown_head_ = false;
  }
  Step refuse(const error_code& error) {
    reason_ = sink_->is_too_large
                  ? "the answer is larger than " + std::to_string(body_bytes_max_) + " bytes"
                  : "the answer is not HTTP: " + error.message();
    return Step::refused;
  }

  ports::HttpAnswer* into_ = nullptr;
  std::optional<Sink> sink_;
  std::size_t body_bytes_max_ = 0;
  bool has_no_body_ = false;
  bool has_begun_ = false;
  bool has_shown_head_ = false;
  std::string reason_;
};

ResponseParser::ResponseParser() : impl_(std::make_unique<Impl>()) {}
ResponseParser::~ResponseParser() = default;
void ResponseParser::begin(ports::HttpAnswer& into, std::size_t body_bytes_max, bool has_no_body) {
  impl_->begin(into, body_bytes_max, has_no_body);
}
ResponseParser::Step ResponseParser::read(std::string_view input, std::size_t& consumed) {
  return impl_->read(input, consumed);
}
ResponseParser::Step ResponseParser::read_end() {
  return impl_->read_end();
}
bool ResponseParser::has_begun() const {
  return impl_->has_begun();
}
bool ResponseParser::keeps_alive() const {
  return impl_->keeps_alive();
}
const std::string& ResponseParser::reason() const {
  return impl_->reason();
}

}  // namespace fdbpack::http_client
