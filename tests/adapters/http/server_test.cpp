// SPDX-License-Identifier: Apache-2.0
#include "tests/adapters/http/http_fixture.hpp"
#include "tests/support/temp_dir.hpp"

#include <sys/stat.h>

#include <atomic>

namespace fdbpack::http_server {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

TEST_F(HttpServerTest, AnswersAndKeepsTheConnection) {
  start();
  Client client(port_);
  for (int i = 0; i < 3; ++i) {
    const Answered answer = client.ask(get("/v1/status"));
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, handler_.status_page()->body());
    EXPECT_TRUE(answer.has("Content-Type: application/json"));
    EXPECT_TRUE(answer.has("ETag: " + handler_.status_page()->etag()));
    EXPECT_NE(answer.head.find("\r\nDate: "), std::string::npos);
    EXPECT_EQ(answer.head.find("Connection"), std::string::npos);
  }
  EXPECT_EQ(counters().connections, 1U);
  EXPECT_EQ(counters().requests, 3U);
}

TEST_F(HttpServerTest, SavesTheBodyForWhoHasIt) {
  start();
  Client client(port_);
  const std::string etag = handler_.status_page()->etag();
  EXPECT_EQ(client.ask(get("/v1/status", "If-None-Match: " + etag + "\r\n")).status, 304);
  EXPECT_EQ(client.ask(get("/v1/status", "If-None-Match: \"x\"\r\n")).status, 200);
  const Answered head = client.ask("HEAD /v1/status HTTP/1.1\r\nHost: x\r\n\r\n", false);
  EXPECT_EQ(head.status, 200);
  EXPECT_TRUE(head.has("Content-Length: 2048"));
  EXPECT_EQ(client.ask(get("/livez")).body, "ok\n");  // nothing was left in between
}

TEST_F(HttpServerTest, AnswersPipelinedRequestsInOrder) {
  start();
  Client client(port_);
  std::string requests;
  for (int i = 0; i < 100; ++i) {
    const std::string body = std::to_string(i);
    requests += "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) +
                "\r\n\r\n" + body;
    if (i == 50) requests += get("/livez");
  }
  ASSERT_TRUE(client.send(requests));
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(client.receive().body, std::to_string(i));
    if (i == 50) {
      EXPECT_EQ(client.receive().body, "ok\n");
    }
  }
}

TEST_F(HttpServerTest, TakesARequestInPieces) {
  start();
  Client client(port_);
  const std::string request =
      "\r\nPOST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      "4\r\nWiki\r\n5;ext=1\r\npedia\r\n0\r\nTrailer: x\r\n\r\n";
  for (const char byte : request) {
    ASSERT_TRUE(client.send(std::string(1, byte)));
  }
  EXPECT_EQ(client.receive().body, "Wikipedia");
  EXPECT_EQ(client.ask(get("/livez")).body, "ok\n");
}

TEST_F(HttpServerTest, ServesHttp10) {
  start();
  Client once(port_);
  const Answered answer = once.ask("GET /livez HTTP/1.0\r\n\r\n");
  EXPECT_EQ(answer.body, "ok\n");
  EXPECT_TRUE(answer.has("Connection: close"));
  EXPECT_TRUE(once.is_closed_by_server());
  Client again(port_);
  const Answered kept = again.ask("GET /livez HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_TRUE(kept.has("Connection: keep-alive"));
  EXPECT_EQ(again.ask(get("/livez", "Connection: close\r\n")).status, 200);
  EXPECT_TRUE(again.is_closed_by_server());
}

TEST_F(HttpServerTest, AnswersLaterWithoutHoldingOthersUp) {
  start();
  Client slow(port_);
  Client quick(port_);
  ASSERT_TRUE(slow.send(get("/livez") + get("/later")));
  EXPECT_EQ(slow.receive().body, "ok\n");  // is not held back by the one behind it
  ports::Reply reply = handler_.wait_for_later();
  EXPECT_EQ(quick.ask(get("/livez")).status, 200);
  on_server([&] {
    reply.send(http::Response{200, "text/plain", "now", {}, false});
    return 0;
  });
  EXPECT_EQ(slow.receive().body, "now");
}

TEST_F(HttpServerTest, SurvivesAnAnswerForAClientThatHasGone) {
  start();
  {
    Client client(port_);
    ASSERT_TRUE(client.send(get("/later")));
    ports::Reply reply = handler_.wait_for_later();
    client.close();
    on_server([&] {
      reply.send(http::problem(503, "too late"));
      return 0;
    });
  }
  EXPECT_TRUE(comes_to(0));
  EXPECT_EQ(Client(port_).ask(get("/livez")).status, 200);
}

// Answers after so many turns of the loop.
struct AnswerLater {
  boost::asio::io_context& io;
  std::shared_ptr<ports::Reply> reply;
  int turns = 0;
  void operator()() {
    if (turns-- > 0) return boost::asio::post(io, *this);
    reply->send(http::Response{200, "text/plain", "late", {}, false});
  }
};

// The answer and the end of the time for it come in the same turn of the loop, in whatever order:
// the connection serves the next request.
TEST_F(HttpServerTest, AnAnswerAtTheLastMomentDoesNotSpoilTheConnection) {
  http::Limits limits;
  limits.answer_deadline = 30ms;
  start(limits);
  for (int turns = 0; turns < 6; ++turns) {
    Client client(port_);
    ASSERT_TRUE(client.send(get("/later")));
    AnswerLater answer{io_, std::make_shared<ports::Reply>(handler_.wait_for_later()), turns};
    on_server([&] {
      const auto late = std::chrono::steady_clock::now() + 2 * limits.answer_deadline;
      while (std::chrono::steady_clock::now() < late) {  // the loop stands still meanwhile
      }
      answer();
      return 0;
    });
    const int status = client.receive().status;
    EXPECT_TRUE(status == 200 || status == 503) << turns << ": " << status;
    EXPECT_EQ(client.ask(get("/livez")).status, 200) << turns;
    for (int i = 0; i <= turns; ++i)
      on_server([] { return 0; });  // until the answer was given, to whomever
  }
}

bool becomes_true(const std::atomic<bool>& flag) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kDeadlineMs);
  while (!flag && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  return flag;
}

TEST_F(HttpServerTest, TellsWhoWorksForAClientThatItHasGone) {
  http::Limits limits;
  limits.half_closed_deadline = 50ms;
  start(limits);
  Client patient(port_), impatient(port_);
  ASSERT_TRUE(patient.send(get("/later")));
  ports::Reply first = handler_.wait_for_later();
  const ports::ClientGone stays = handler_.gone();
  ASSERT_TRUE(impatient.send(get("/later")));
  ports::Reply second = handler_.wait_for_later();
  const ports::ClientGone goes = handler_.gone();
  EXPECT_FALSE(*goes);
  impatient.close();
  EXPECT_TRUE(becomes_true(*goes));
  EXPECT_FALSE(*stays);
  on_server([&] {
    first.send(http::Response{200, "text/plain", "now", {}, false});
    second.send(http::Response{200, "text/plain", "for nobody", {}, false});
    return 0;
  });
  EXPECT_EQ(patient.receive().body, "now");
  EXPECT_FALSE(*stays);
}

// Both have sent their last byte. The one that was reset is gone at once, the other one reads.
TEST_F(HttpServerTest, AClientThatHasFinishedSendingIsNotGone) {
  http::Limits limits;
  limits.half_closed_deadline = std::chrono::hours(1);
  start(limits);
  Client reading(port_), reset(port_);
  ASSERT_TRUE(reading.send(get("/later")));
  ::shutdown(reading.fd(), SHUT_WR);
  ports::Reply first = handler_.wait_for_later();
  const ports::ClientGone stays = handler_.gone();
  ASSERT_TRUE(reset.send(get("/later")));
  ports::Reply second = handler_.wait_for_later();
  const ports::ClientGone goes = handler_.gone();
  const ::linger at_once{1, 0};
  ::setsockopt(reset.fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  reset.close();
  // The one that reads came first, so it has been looked at by then.
  EXPECT_TRUE(becomes_true(*goes));
  EXPECT_FALSE(*stays);
  on_server([&] {
    first.send(http::Response{200, "text/plain", "now", {}, false});
    second.send(http::Response{200, "text/plain", "for nobody", {}, false});
    return 0;
  });
  EXPECT_EQ(reading.receive().body, "now");
  EXPECT_TRUE(reading.is_closed_by_server());
}

TEST_F(HttpServerTest, GivesUpOnAnAnswerThatDoesNotCome) {
  http::Limits limits;
  limits.answer_deadline = 50ms;
  start(limits);
  Client client(port_);
  EXPECT_EQ(client.ask(get("/later")).status, 503);
  ports::Reply reply = handler_.wait_for_later();
  EXPECT_EQ(client.ask(get("/livez")).status, 200);
  on_server([&] {
    reply.send(http::Response{200, "text/plain", "late", {}, false});
    return 0;
  });
  EXPECT_EQ(client.ask(get("/livez")).body, "ok\n");
}

TEST_F(HttpServerTest, AnswersForAHandlerThatFails) {
  start();
  Client client(port_);
  EXPECT_EQ(client.ask(get("/drop")).status, 500);
  EXPECT_EQ(client.ask(get("/fail")).status, 500);
  EXPECT_EQ(client.ask(get("/livez")).status, 200);
}

TEST_F(HttpServerTest, SaysContinueWhenAsked) {
  start();
  Client client(port_);
  const std::string head = "POST /upload HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n";
  EXPECT_EQ(client.ask(head + "Content-Length: 3\r\n\r\n").status, 100);
  EXPECT_EQ(client.ask("abc").body, "abc");
  EXPECT_EQ(client.ask(head + "Content-Length: 9999999\r\n\r\n").status, 413);
}

TEST_F(HttpServerTest, FinishesRequestsBeforeItStops) {
  start();
  Client busy(port_);
  Client idle(port_);
  EXPECT_EQ(idle.ask(get("/livez")).status, 200);
  ASSERT_TRUE(busy.send(get("/later")));
  ports::Reply reply = handler_.wait_for_later();
  auto stopping = std::async(std::launch::async, [this] { stop(20s); });
  EXPECT_TRUE(idle.is_closed_by_server());
  boost::asio::post(io_, [&] { reply.send(http::Response{200, "text/plain", "end", {}, false}); });
  const Answered answer = busy.receive();
  EXPECT_EQ(answer.body, "end");
  EXPECT_TRUE(answer.has("Connection: close"));
  stopping.get();
  EXPECT_FALSE(Client(port_).is_connected());
}

TEST_F(HttpServerTest, CutsOffWhatOutlastsTheGrace) {
  start();
  Client busy(port_);
  ASSERT_TRUE(busy.send(get("/later")));
  ports::Reply reply = handler_.wait_for_later();
  stop(10ms);
  EXPECT_TRUE(busy.is_closed_by_server());
  reply.send(http::problem(503, "nobody hears this"));
}

// Case 47: the name of a unix socket.
TEST_F(HttpServerTest, KnowsWhoComesByUnixSocket) {
  const support::TempDir folder;
  const std::string path = folder.file("agent.sock");
  start({}, path);
  struct ::stat status {};
  ASSERT_EQ(::lstat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0660U);
  EXPECT_EQ(Client(path).ask(get("/who")).body,
            "unix uid=" + std::to_string(::getuid()) + " pid=" + std::to_string(::getpid()));
  Client tcp(port_);
  EXPECT_EQ(tcp.ask(get("/who")).body.substr(0, 10), "127.0.0.1:");
  stop();
  EXPECT_NE(::lstat(path.c_str(), &status), 0) << "the name goes with the server";
}

TEST_F(HttpServerTest, ReplacesAUnixSocketThatNobodyListensOn) {
  const support::TempDir folder;
  const std::string path = folder.file("agent.sock");
  const int stale = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(stale, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::chmod(path.c_str(), 0777), 0);
  ::close(stale);
  start({}, path);
  EXPECT_EQ(Client(path).ask(get("/livez")).status, 200);
  UnixPlace same;
  same.path = path;
  const auto second = on_server([&] { return server_->listen(same); });
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::already_exists);
  EXPECT_EQ(Client(path).ask(get("/livez")).status, 200) << "the first one is still there";
}

TEST_F(HttpServerTest, LeavesFilesAlone) {
  const support::TempDir folder;
  make({});
  UnixPlace file;
  file.path = folder.write("precious", "data");
  EXPECT_EQ(server_->listen(file).error().code, ErrorCode::already_exists);
  struct ::stat status {};
  EXPECT_EQ(::stat(file.path.c_str(), &status), 0);
  EXPECT_EQ(status.st_size, 4);
  UnixPlace long_path;
  long_path.path = folder.file(std::string(200, 'x'));
  EXPECT_EQ(server_->listen(long_path).error().code, ErrorCode::invalid_argument);
  UnixPlace nowhere;
  nowhere.path = folder.file("no/such/folder");
  EXPECT_FALSE(server_->listen(nowhere));
  EXPECT_FALSE(server_->listen(TcpPlace{"db.example", 0}, Server::Security::plain));
}

}  // namespace
}  // namespace fdbpack::http_server
