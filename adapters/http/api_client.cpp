// SPDX-License-Identifier: Apache-2.0
#include "adapters/http/api_client.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <openssl/ssl.h>

#include <array>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

namespace fdbpack::http_server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using tcp = asio::ip::tcp;
using Executor = asio::io_context::executor_type;
using TcpSocket = asio::basic_stream_socket<tcp, Executor>;
using Resolver = asio::ip::basic_resolver<tcp, Executor>;
using ErrorNumber = boost::system::error_code;
constexpr asio::as_tuple_t<asio::use_awaitable_t<Executor>> kToken;

template <class T>
using Awaited = asio::awaitable<Result<T>, Executor>;

constexpr std::size_t kBodyBytesMax = 4 * 1024 * 1024;  // and of one line of a watch
constexpr std::size_t kTokenBytesMax = 64 * 1024;
constexpr std::uint32_t kHeaderBytesMax = 64 * 1024;

Result<std::string> read_token(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string token(kTokenBytesMax, '\0');
  file.read(token.data(), static_cast<std::streamsize>(token.size()));
  token.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r' || token.back() == ' ')) {
    token.pop_back();
  }
  const bool is_printable =
      std::all_of(token.begin(), token.end(), [](unsigned char c) { return c > 0x20 && c < 0x7F; });
  if (token.empty() || !is_printable) {
    return fail(ErrorCode::unavailable, "there is no token in " + path);
  }
  return token;
}

}  // namespace

class ApiClient::Call {
 public:
  Call(asio::io_context& io, const ApiPlace& place, ports::ApiRequest request, OnLine on_line)
      : place_(place),
        request_(std::move(request)),
        on_line_(std::move(on_line)),
        resolver_(io),
        timer_(io),
        context_(asio::ssl::context::tls_client),
        io_(io) {}

  // `reply` is set when it returns.
  TaskGroup::Task run();
  void close();
  void set_deadline(const std::shared_ptr<Call>& self);

  std::optional<Result<ports::ApiReply>> reply;

 private:
  using Stream = asio::ssl::stream<TcpSocket>;

  [[nodiscard]] Status prepare();
  [[nodiscard]] Awaited<void> connect();
  [[nodiscard]] Awaited<ports::ApiReply> exchange();
  [[nodiscard]] Awaited<void> read_body();
  [[nodiscard]] Status take(std::string_view bytes, bool is_granted, std::string& body);
  [[nodiscard]] tl::unexpected<Error> failed(const char* step, const ErrorNumber& error) const;

  const ApiPlace& place_;
  ports::ApiRequest request_;
  OnLine on_line_;
  Resolver resolver_;
  asio::steady_timer timer_;
  asio::ssl::context context_;
  asio::io_context& io_;
  std::unique_ptr<Stream> stream_;
  std::string token_;
  beast::flat_buffer buffer_;
  std::optional<beast::http::response_parser<beast::http::buffer_body>> parser_;
  std::array<char, 16 * 1024> room_;
  ports::ApiReply answer_;
  std::string line_;
  bool is_late_ = false;
  bool is_closed_ = false;
};

tl::unexpected<Error> ApiClient::Call::failed(const char* step, const ErrorNumber& error) const {
  const std::string where = place_.host + ":" + std::to_string(place_.port);
  if (is_late_) {
    return fail(ErrorCode::timed_out, where + " did not answer in time (" + step + ")");
  }
  return fail(ErrorCode::unavailable, std::string(step) + " " + where + ": " + error.message());
}

void ApiClient::Call::set_deadline(const std::shared_ptr<Call>& self) {
  timer_.expires_after(request_.deadline);
  timer_.async_wait([self](const ErrorNumber& error) {
    if (error) return;
    self->is_late_ = true;
    self->close();
  });
}

void ApiClient::Call::close() {
  is_closed_ = true;
  timer_.cancel();
  resolver_.cancel();
  ErrorNumber ignored;
  if (stream_) stream_->next_layer().close(ignored);
}

Status ApiClient::Call::prepare() {
  FDBPACK_TRY(token_, read_token(place_.token_file));
  ErrorNumber error;
  context_.load_verify_file(place_.authority_file, error);
  if (error) {
    return fail(ErrorCode::unavailable,
                "reading the authority " + place_.authority_file + ": " + error.message());
  }
  SSL_CTX_set_min_proto_version(context_.native_handle(), TLS1_2_VERSION);
  stream_ = std::make_unique<Stream>(io_, context_);
  stream_->set_verify_mode(asio::ssl::verify_peer, error);
  if (!error) stream_->set_verify_callback(asio::ssl::host_name_verification(place_.host), error);
  if (error) return failed("setting up TLS with", error);
  ErrorNumber no_address;
  asio::ip::make_address(place_.host, no_address);
  if (no_address) {  // SSL_set_tlsext_host_name is a macro with a cast that we do not allow
    SSL_ctrl(stream_->native_handle(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
             const_cast<char*>(place_.host.c_str()));
  }
  return {};
}

Awaited<void> ApiClient::Call::connect() {
  std::vector<tcp::endpoint> endpoints;
  ErrorNumber no_address;
  const auto address = asio::ip::make_address(place_.host, no_address);
  if (!no_address) {
    endpoints.emplace_back(address, place_.port);
  } else {
    const std::string port = std::to_string(place_.port);
    auto resolved = co_await resolver_.async_resolve(place_.host, port, kToken);
    const ErrorNumber& error = std::get<0>(resolved);
    if (error) co_return failed("resolving", error);
    for (const auto& entry : std::get<1>(resolved))
      endpoints.push_back(entry.endpoint());
  }
  ErrorNumber last = asio::error::host_not_found;
  for (const auto& endpoint : endpoints) {
    if (is_closed_) break;
    TcpSocket& socket = stream_->next_layer();
    ErrorNumber ignored;
    socket.close(ignored);
    const auto [error] = co_await socket.async_connect(endpoint, kToken);
    last = error;
    if (!error) break;
  }
  if (last || is_closed_) co_return failed("connecting to", last);
  const auto [error] = co_await stream_->async_handshake(asio::ssl::stream_base::client, kToken);
  if (error) co_return failed("greeting", error);
  co_return Result<void>();
}

// Of a watch the lines are handed on; of anything else the body is kept.
Status ApiClient::Call::take(std::string_view bytes, bool is_granted, std::string& body) {
  if (!on_line_ || !is_granted) {
    body.append(bytes);
    if (body.size() > kBodyBytesMax) return fail(ErrorCode::corrupt, "the answer is too large");
    return {};
  }
  while (!bytes.empty() && !is_closed_) {
    const auto end = bytes.find('\n');
    line_.append(bytes.substr(0, end));
    if (line_.size() > kBodyBytesMax) return fail(ErrorCode::corrupt, "an event is too large");
    if (end == std::string_view::npos) return {};
    const std::string whole = std::exchange(line_, std::string());
    if (!whole.empty()) on_line_(whole);
    bytes.remove_prefix(end + 1);
  }
  return {};
}

Awaited<void> ApiClient::Call::read_body() {
  while (!parser_->is_done()) {
    auto& body = parser_->get().body();
    body.data = room_.data();
    body.size = room_.size();
    body.more = true;
    auto [error, count] =
        co_await beast::http::async_read_some(*stream_, buffer_, *parser_, kToken);
    if (error == beast::http::error::need_buffer) error = {};
    const std::size_t got = room_.size() - parser_->get().body().size;
    auto taken = take(std::string_view(room_.data(), got), answer_.status == 200, answer_.body);
    if (!taken) co_return fail(taken.error());
    if (error) co_return failed("reading from", error);
  }
  co_return Result<void>();
}

Awaited<ports::ApiReply> ApiClient::Call::exchange() {
  if (is_closed_) co_return fail(ErrorCode::unavailable, "calls are not made any more");
  if (auto prepared = prepare(); !prepared) co_return fail(prepared.error());
  auto connected = co_await connect();
  if (!connected) co_return fail(connected.error());

  namespace http = beast::http;
  http::request<http::string_body> request;
  request.method_string(request_.method);
  request.target(request_.target);
  request.version(11);
  const bool is_v6 = place_.host.find(':') != std::string::npos;
  const std::string host = is_v6 ? "[" + place_.host + "]" : place_.host;
  request.set(http::field::host, host + ":" + std::to_string(place_.port));
  request.set(http::field::user_agent, "fdbpack-agent");
  request.set(http::field::accept, "application/json");
  request.set(http::field::authorization, "Bearer " + token_);
  request.set(http::field::connection, "close");
  if (!request_.content_type.empty()) {
    request.set(http::field::content_type, request_.content_type);
    request.body() = std::move(request_.body);
  }
  request.prepare_payload();
  const auto [write_error, written] = co_await http::async_write(*stream_, request, kToken);
  if (write_error) co_return failed("writing to", write_error);

  parser_.emplace();
  parser_->header_limit(kHeaderBytesMax);
  parser_->body_limit(boost::none);
  const auto [head_error, head_size] =
      co_await http::async_read_header(*stream_, buffer_, *parser_, kToken);
  if (head_error) co_return failed("reading from", head_error);
  answer_.status = static_cast<int>(parser_->get().result_int());
  auto body = co_await read_body();
  if (!body) co_return fail(body.error());
  co_return std::move(answer_);
}

TaskGroup::Task ApiClient::Call::run() {
  auto result = co_await exchange();
  reply.emplace(std::move(result));
}

ApiClient::ApiClient(asio::io_context& io, ApiPlace place)
    : io_(io), place_(std::move(place)), tasks_(io) {}

ApiClient::~ApiClient() = default;

void ApiClient::send(ports::ApiRequest request, OnReply on_reply) {
  start(std::move(request), nullptr, std::move(on_reply));
}

void ApiClient::watch(ports::ApiRequest request, OnLine on_line, OnReply on_end) {
  start(std::move(request), std::move(on_line), std::move(on_end));
}

void ApiClient::start(ports::ApiRequest request, OnLine on_line, OnReply on_reply) {
  auto call = std::make_shared<Call>(io_, place_, std::move(request), std::move(on_line));
  calls_.insert(call);
  call->set_deadline(call);
  if (is_stopping_) call->close();
  auto on_end = [this, call, on_reply = std::move(on_reply)](const std::exception_ptr& error) {
    call->close();
    calls_.erase(call);
    // What a library throws here is one more way in which the call failed.
    if (error || !call->reply) {
      return on_reply(fail(ErrorCode::internal, "the call to the API server failed"));
    }
    on_reply(*std::move(call->reply));
  };
  tasks_.spawn(call->run(), std::move(on_end));
}

void ApiClient::stop(std::function<void()> on_stopped) {
  is_stopping_ = true;
  const auto calls = calls_;
  for (const auto& call : calls)
    call->close();
  tasks_.when_empty(std::move(on_stopped));
}

}  // namespace fdbpack::http_server
