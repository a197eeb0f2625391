// SPDX-License-Identifier: Apache-2.0
//
// The client against a server that says what the test tells it to, byte by byte, and against ours
// over TLS.
#include "adapters/http/client.hpp"

#include "tests/adapters/http/certificates.hpp"
#include "tests/adapters/http/http_fixture.hpp"
#include "tests/support/temp_dir.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <gmock/gmock.h>

#include <deque>
#include <list>

namespace fdbpack::http_client {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using boost::asio::ip::tcp;
using boost::system::error_code;
using ports::HttpAnswer;
using ports::HttpRequest;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

// Answers the n-th request with the n-th text of the script, in pieces of `piece` bytes. A text
// that ends in "<close>" closes the connection afterwards; "<silence>" never answers.
class ScriptedServer {
 public:
  explicit ScriptedServer(boost::asio::io_context& io)
      : acceptor_(io, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0)) {
    accept();
  }
  [[nodiscard]] http::Endpoint endpoint() const {
    return {"127.0.0.1", acceptor_.local_endpoint().port(), false, ""};
  }
  void close_connections() {
    for (auto& connection : connections_)
      connection->socket.close();
  }

  std::deque<std::string> script;
  std::size_t piece = 1 << 20;
  int accepted = 0;
  std::vector<std::string> requests;

 private:
  struct Connection {
    explicit Connection(tcp::socket from) : socket(std::move(from)) {}
    tcp::socket socket;
    std::array<char, 4096> buffer{};
    std::string input, output;
    bool closes = false;
  };
  using ConnectionPtr = std::shared_ptr<Connection>;

  void accept() {
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
      if (error) return;
      ++accepted;
      connections_.push_back(std::make_shared<Connection>(std::move(socket)));
      read(connections_.back());
      accept();
    });
  }
  void read(const ConnectionPtr& on) {
    on->socket.async_read_some(boost::asio::buffer(on->buffer),
                               [this, on](error_code error, std::size_t count) {
                                 if (error) return;
                                 on->input.append(on->buffer.data(), count);
                                 if (is_whole(on->input)) answer(on);
                                 read(on);
                               });
  }
  static bool is_whole(const std::string& text) {
    const auto head = text.find("\r\n\r\n");
    if (head == std::string::npos) return false;
    const auto length = text.find("Content-Length: ");
    const std::size_t size = length > head ? 0 : std::stoul(text.substr(length + 16));
    return text.size() >= head + 4 + size;
  }
  void answer(const ConnectionPtr& on) {
    requests.push_back(std::exchange(on->input, {}));
    if (script.empty()) return;
    std::string text = std::move(script.front());
    script.pop_front();
    if (text == "<silence>") return;
    on->closes = text.ends_with("<close>");
    if (on->closes) text.resize(text.size() - 7);
    on->output = text;
    write(on);
  }
  void write(const ConnectionPtr& on) {
    auto part = std::make_shared<std::string>(on->output.substr(0, piece));
    on->output.erase(0, part->size());
    boost::asio::async_write(on->socket, boost::asio::buffer(*part),
                             [this, on, part](error_code error, std::size_t) {
                               if (error) return;
                               if (!on->output.empty()) return write(on);
                               if (on->closes) on->socket.close();
                             });
  }

  tcp::acceptor acceptor_;
  std::list<ConnectionPtr> connections_;
};

class HttpClientTest : public testing::Test {
 protected:
  [[nodiscard]] bool run_until(const std::function<bool()>& is_done) {
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (!is_done()) {
      if (std::chrono::steady_clock::now() > end) return false;
      io.restart();
      io.run_one_for(20ms);
    }
    return true;
  }
  Result<HttpAnswer> ask(HttpRequest request = {}) {
    std::optional<Result<HttpAnswer>> result;
    const auto call = client->call(std::move(request), [&](auto answer) { result = answer; });
    EXPECT_FALSE(result) << "answered from inside the call";
    EXPECT_TRUE(run_until([&] { return result.has_value(); }));
    return result ? *result : fail(ErrorCode::internal, "never told");
  }
  Result<HttpAnswer> ask_scripted(std::string answer, HttpRequest request = {}) {
    server.script = {std::move(answer)};
    return ask(std::move(request));
  }
  void expect_failure(const Result<HttpAnswer>& result, ErrorCode code, const std::string& says) {
    ASSERT_FALSE(result);
    EXPECT_EQ(to_string(result.error().code), to_string(code)) << result.error().message;
    EXPECT_THAT(result.error().message, HasSubstr(says));
  }

  boost::asio::io_context io{1};
  ScriptedServer server{io};
  std::unique_ptr<Client> client = std::make_unique<Client>(io, server.endpoint());
};

TEST_F(HttpClientTest, SendsWhatItIsToldAndReadsTheAnswer) {
  HttpRequest request;
  request.method = http::Method::post;
  request.target = "/v3/kv/txn?x=1";
  request.headers.add("Content-Type", "application/json");
  request.body = "{}";
  const auto answer =
      ask_scripted("HTTP/1.1 409 Conflict\r\nContent-Length: 5\r\nX-A: b\r\n\r\nhello", request);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 409);
  EXPECT_EQ(answer->body, "hello");
  EXPECT_EQ(answer->headers.find("x-a"), "b");
  EXPECT_EQ(server.requests.at(0),
            "POST /v3/kv/txn?x=1 HTTP/1.1\r\nHost: " + http::host_field(server.endpoint()) +
                "\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
}

TEST_F(HttpClientTest, ReadsEveryFormOfAnAnswerHoweverItIsCut) {
  const std::string forms[] = {
      kOk,
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1;x=y\r\nk\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: T\r\n\r\n2\r\nok\r\n0\r\nT: "
      "1\r\n\r\n",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + std::string(kOk),
      "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok<close>",
      "HTTP/1.0 200 OK\r\n\r\nok<close>",
  };
  for (const std::size_t piece : {1U, 2U, 3U, 7U, 1000U}) {
    server.piece = piece;
    for (const auto& form : forms) {
      const auto answer = ask_scripted(form);
      ASSERT_TRUE(answer) << form << ": " << answer.error().message;
      EXPECT_EQ(answer->status, 200);
      EXPECT_EQ(answer->body, "ok") << form;
      EXPECT_EQ(answer->headers.find("Link"), std::nullopt);
    }
  }
}

TEST_F(HttpClientTest, KeepsTheConnectionForTheNextCall) {
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(ask_scripted(kOk));
  EXPECT_EQ(server.accepted, 1);
  ASSERT_TRUE(ask_scripted("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"));
  ASSERT_TRUE(ask_scripted(kOk));
  EXPECT_EQ(server.accepted, 2);
  HttpRequest head;
  head.method = http::Method::head;
  const auto answer = ask_scripted("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n", head);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "");
  ASSERT_TRUE(ask_scripted(kOk));
  EXPECT_EQ(server.accepted, 2);
}

TEST_F(HttpClientTest, NoticesThatAKeptConnectionWasClosedBeforeItSends) {
  ASSERT_TRUE(ask_scripted(kOk));
  server.close_connections();
  ASSERT_TRUE(ask_scripted(kOk)) << "not even one that may not be repeated is lost";
  EXPECT_EQ(server.accepted, 2);
}

TEST_F(HttpClientTest, RepeatsOnlyWhatMayBeRepeated) {
  HttpRequest request;
  ASSERT_TRUE(ask_scripted(kOk));
  server.script = {"<close>", kOk};
  expect_failure(ask(request), ErrorCode::internal, "closed before the answer");
  server.script = {kOk, "<close>", kOk};
  ASSERT_TRUE(ask(request));
  request.is_repeatable = true;
  EXPECT_TRUE(ask(request));
  // On a new connection it is no accident.
  client = std::make_unique<Client>(io, server.endpoint());
  server.script = {"<close>", kOk};
  EXPECT_FALSE(ask(request));
}

TEST_F(HttpClientTest, SaysWhetherTheServerCanHaveSeenTheRequest) {
  HttpRequest request;
  request.deadline = 100ms;
  expect_failure(ask_scripted("<silence>", request), ErrorCode::timed_out, "in time");
  expect_failure(ask_scripted("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe<close>"),
                 ErrorCode::internal, "middle");
  tcp::acceptor unused(io, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
  const auto port = unused.local_endpoint().port();
  unused.close();
  client = std::make_unique<Client>(io, http::Endpoint{"127.0.0.1", port, false, ""});
  expect_failure(ask(), ErrorCode::unavailable, "http://127.0.0.1:" + std::to_string(port));
  client = std::make_unique<Client>(io, http::Endpoint{"", 0, false, "/nowhere/at.all"});
  expect_failure(ask(), ErrorCode::unavailable, "unix:///nowhere/at.all");
  client = std::make_unique<Client>(io, http::Endpoint{"no.such.host.invalid", 80, false, ""});
  expect_failure(ask(), ErrorCode::unavailable, "no.such.host.invalid");
}

TEST_F(HttpClientTest, RefusesAnswersThatAreTooLargeOrNoHttp) {
  HttpRequest request;
  request.body_bytes_max = 4;
  EXPECT_TRUE(ask_scripted("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfour", request));
  expect_failure(ask_scripted("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfive!", request),
                 ErrorCode::corrupt, "larger than 4");
  expect_failure(
      ask_scripted("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfive!\r\n0\r\n\r\n",
                   request),
      ErrorCode::corrupt, "larger than 4");
  expect_failure(ask_scripted("SSH-2.0-OpenSSH_9.2\r\n\r\n"), ErrorCode::corrupt, "not HTTP");
  expect_failure(ask_scripted("HTTP/1.1 200 OK\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n"),
                 ErrorCode::corrupt, "not HTTP");
  EXPECT_TRUE(ask_scripted(kOk)) << "the next call starts anew";
}

TEST_F(HttpClientTest, AnswersCallsInTheirOrder) {
  server.script = {kOk, "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", kOk};
  std::vector<int> seen;
  std::vector<std::unique_ptr<ports::HttpCall>> calls;
  for (int i = 0; i < 4; ++i) {
    calls.push_back(client->call(
        {}, [&seen](const auto& answer) { seen.push_back(answer ? answer->status : 0); }));
  }
  calls[3].reset();  // given up before it was sent
  ASSERT_TRUE(run_until([&] { return seen.size() == 3; }));
  EXPECT_THAT(seen, ElementsAre(200, 404, 200));
  EXPECT_EQ(server.requests.size(), 3U);
}

TEST_F(HttpClientTest, TellsNothingOfACallThatWasDropped) {
  server.script = {"<silence>", kOk};
  bool is_told = false;
  auto call = client->call({}, [&](const auto&) { is_told = true; });
  ASSERT_TRUE(run_until([&] { return server.requests.size() == 1; }));
  call.reset();
  EXPECT_TRUE(ask());
  EXPECT_FALSE(is_told);
  EXPECT_EQ(server.accepted, 2) << "the answer to the first must not be taken for the second's";
}

TEST_F(HttpClientTest, MayBeDestroyedInsideItsOwnAnswer) {
  server.script = {kOk};
  bool is_told = false;
  auto call = client->call({}, [&](const auto&) {
    is_told = true;
    client.reset();
  });
  ASSERT_TRUE(run_until([&] { return is_told; }));
}

TEST_F(HttpClientTest, TellsTheLinesOfAStreamAsTheyCome) {
  for (const std::size_t piece : {1U, 5U, 1000U}) {
    server.piece = piece;
    server.script = {
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        "4\r\none\n\r\n6\r\ntwo\n\nt\r\n5\r\nhree\n\r\n4\r\nrest\r\n0\r\n\r\n"};
    std::vector<std::string> lines;
    std::optional<Result<HttpAnswer>> end;
    auto call = client->stream(
        {}, [&](std::string_view line) { lines.emplace_back(line); },
        [&](auto answer) { end = std::move(answer); });
    ASSERT_TRUE(run_until([&] { return end.has_value(); }));
    ASSERT_TRUE(*end);
    EXPECT_THAT(lines, ElementsAre("one", "two", "", "three"));
    EXPECT_EQ((*end)->body, "rest");
  }
}

TEST_F(HttpClientTest, AStreamOutlivesTheDeadlineOfItsHead) {
  server.script = {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n"};
  HttpRequest request;
  request.deadline = 300ms;
  std::vector<std::string> lines;
  bool has_ended = false;
  auto call = client->stream(
      request, [&](std::string_view line) { lines.emplace_back(line); },
      [&](const auto&) { has_ended = true; });
  ASSERT_TRUE(run_until([&] { return lines.size() == 1; }));
  io.restart();
  io.run_for(500ms);  // beyond the deadline
  EXPECT_FALSE(has_ended);
  server.close_connections();
  EXPECT_TRUE(run_until([&] { return has_ended; }));
}

TEST_F(HttpClientTest, AStreamWithAnotherStatusIsAnAnswer) {
  server.script = {"HTTP/1.1 401 No\r\nContent-Length: 4\r\n\r\na\nb\n"};
  std::optional<Result<HttpAnswer>> end;
  auto call = client->stream(
      {}, [](std::string_view) { FAIL(); }, [&](auto answer) { end = std::move(answer); });
  ASSERT_TRUE(run_until([&] { return end.has_value(); }));
  EXPECT_EQ((*end)->body, "a\nb\n");
}

// Our own server, on its own thread.
class TlsHttpClientTest : public http_server::HttpServerTest {
 protected:
  TlsHttpClientTest() {
    authority = support::make_certificate({{{"CN", "CA"}}, "", nullptr, true});
    stranger = support::make_certificate({{{"CN", "Other"}}, "", nullptr, true});
    const auto own =
        support::make_certificate({{{"CN", "x"}}, "DNS:db-1.example,IP:127.0.0.1", &authority});
    const auto ops = support::make_certificate({{{"CN", "ops"}}, "", &authority});
    files.authority_file = folder.write("ca.pem", authority.certificate_pem);
    folder.write("other.pem", stranger.certificate_pem);
    files.certificate_file = folder.write("ops.pem", ops.certificate_pem);
    files.key_file = folder.write("ops.key", ops.key_pem);
    http_server::TlsFiles server_files;
    server_files.certificate_file = folder.write("cert.pem", own.certificate_pem);
    server_files.key_file = folder.write("key.pem", own.key_pem);
    server_files.authority_file = files.authority_file;
    server_files.client_certificate = http_server::TlsFiles::ClientCertificate::required;
    make({});
    EXPECT_TRUE(server_->use_tls(server_files));
    port_ = *server_->listen(http_server::TcpPlace{}, http_server::Server::Security::tls);
    run();
  }
  ~TlsHttpClientTest() override { stop(); }

  Result<HttpAnswer> ask(const std::string& target) {
    boost::asio::io_context io{1};
    Client client(io, http::Endpoint{"127.0.0.1", port_, true, ""}, files);
    std::optional<Result<HttpAnswer>> result;
    HttpRequest request;
    request.target = target;
    const auto call = client.call(request, [&](auto answer) { result = std::move(answer); });
    io.run_for(20s);
    return result ? *result : fail(ErrorCode::internal, "never told");
  }

  support::TempDir folder;
  support::Certificate authority, stranger;
  TlsClientFiles files;
};

TEST_F(TlsHttpClientTest, ShowsItsCertificateAndChecksTheServers) {
  auto answer = ask("/who");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_THAT(answer->body, HasSubstr("CN=ops"));
  files.server_name = "db-1.example";
  EXPECT_TRUE(ask("/livez"));
}

TEST_F(TlsHttpClientTest, RefusesAServerItDoesNotTrust) {
  const auto expect_refused = [&](const std::string& says) {
    const auto answer = ask("/livez");
    ASSERT_FALSE(answer);
    EXPECT_EQ(to_string(answer.error().code), to_string(ErrorCode::unavailable));
    EXPECT_THAT(answer.error().message, HasSubstr(says));
  };
  files.server_name = "db-2.example";
  expect_refused("db-2.example");
  files.server_name.clear();
  files.authority_file = folder.file("other.pem");
  expect_refused("certificate verify failed");
  files.authority_file = folder.file("none.pem");
  expect_refused("none.pem");
}

}  // namespace
}  // namespace fdbpack::http_client
