// SPDX-License-Identifier: Apache-2.0
#include "adapters/http/api_client.hpp"

#include "adapters/http/client.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace fdbpack::http_client {
namespace {

constexpr std::size_t kBodyBytesMax = 4 * 1024 * 1024;  // and of one line of a watch
constexpr std::size_t kTokenBytesMax = 64 * 1024;

// Empty when it cannot be read. Only of a file: a pipe in its place could keep the loop waiting.
std::string read_start(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return {};
  std::string text;
  struct stat facts {};
  if (::fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode)) {
    text.resize(kTokenBytesMax);
    text.resize(
        static_cast<std::size_t>(std::max<ssize_t>(::read(fd, text.data(), text.size()), 0)));
  }
  ::close(fd);
  return text;
}

Result<std::string> read_token(const std::string& path) {
  std::string token = read_start(path);
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

ports::HttpRequest with_manners(ports::ApiRequest request, const std::string& token) {
  ports::HttpRequest result;
  result.method = request.method;
  result.target = std::move(request.target);
  result.headers.add("User-Agent", "fdbpack-agent");
  result.headers.add("Accept", "application/json");
  result.headers.add("Authorization", "Bearer " + token);
  result.headers.add("Connection", "close");
  if (!request.content_type.empty()) result.headers.add("Content-Type", request.content_type);
  result.body = std::move(request.body);
  result.deadline = request.deadline;
  result.body_bytes_max = kBodyBytesMax;
  return result;
}

}  // namespace

// Lives in calls_ until it is told about, so that whoever finds it alive finds the ApiClient alive.
struct ApiClient::Call {
  Call(boost::asio::io_context& io, const http::Endpoint& endpoint, TlsClientFiles files,
       OnReply on_end)
      : on_reply(std::move(on_end)), timer(io), client(io, endpoint, std::move(files)) {}

  OnReply on_reply;
  boost::asio::steady_timer timer;  // of a watch, whose answer begins in time but may never end
  Client client;
  std::unique_ptr<ports::HttpCall> exchange;
};

ApiClient::ApiClient(boost::asio::io_context& io, ApiPlace place)
    : io_(io), place_(std::move(place)), endpoint_{place_.host, place_.port, true, ""} {}

ApiClient::~ApiClient() = default;

void ApiClient::send(ports::ApiRequest request, OnReply on_reply) {
  start(std::move(request), nullptr, std::move(on_reply));
}

void ApiClient::watch(ports::ApiRequest request, OnLine on_line, OnReply on_end) {
  start(std::move(request), std::move(on_line), std::move(on_end));
}

void ApiClient::start(ports::ApiRequest request, OnLine on_line, OnReply on_reply) {
  TlsClientFiles files;
  files.authority_file = place_.authority_file;
  const auto call = std::make_shared<Call>(io_, endpoint_, std::move(files), std::move(on_reply));
  calls_.insert(call);
  const auto end = [this, weak = std::weak_ptr(call)](Result<ports::ApiReply> reply) {
    if (const auto alive = weak.lock()) finish(alive, std::move(reply));
  };
  const auto token = read_token(place_.token_file);
  if (!token) return boost::asio::post(io_, [end, why = token.error()] { end(fail(why)); });

  const bool is_watch = on_line != nullptr;
  auto on_answer = [end, is_watch](Result<ports::HttpAnswer> answer) {
    if (!answer) return end(fail(std::move(answer).error()));
    const bool was_granted = is_watch && answer->status == 200;
    end(ports::ApiReply{answer->status, was_granted ? "" : std::move(answer->body)});
  };
  const Duration deadline = request.deadline;
  auto question = with_manners(std::move(request), *token);
  if (!is_watch) {
    call->exchange = call->client.call(std::move(question), std::move(on_answer));
    return;
  }
  call->timer.expires_after(deadline);
  call->timer.async_wait(
      [end, where = http::to_string(endpoint_)](boost::system::error_code error) {
        if (!error) end(fail(ErrorCode::timed_out, where + ": the watch did not end in time"));
      });
  auto on_filled_line = [on_line = std::move(on_line)](std::string_view line) {
    if (!line.empty()) on_line(line);
  };
  call->exchange =
      call->client.stream(std::move(question), std::move(on_filled_line), std::move(on_answer));
}

void ApiClient::finish(const std::shared_ptr<Call>& call, Result<ports::ApiReply> reply) {
  calls_.erase(call);
  call->timer.cancel();
  call->exchange.reset();
  call->on_reply(std::move(reply));
}

}  // namespace fdbpack::http_client
