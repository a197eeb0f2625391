// SPDX-License-Identifier: Apache-2.0
//
// Clients that mean ill or are broken: cases 41, 42 and 46 of the fault list.
#include "tests/adapters/http/http_fixture.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <list>

namespace fdbpack::http_server {
namespace {

using std::chrono_literals::operator""ms;

// Of everything that a client may be slow with.
http::Limits with_deadlines(std::chrono::milliseconds deadline) {
  http::Limits limits;
  limits.header_deadline = deadline;
  limits.request_deadline = deadline;
  limits.idle_deadline = deadline;
  return limits;
}

TEST_F(HttpServerTest, RefusesWhatIsNoRequest) {
  start();
  const std::string post = "POST /echo HTTP/1.1\r\nHost: x\r\n";
  const struct {
    std::string bytes;
    int status;
  } cases[] = {
      {"GET\r\n\r\n", 400},
      {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400},
      {"GET /livez HTTP/2.0\r\nHost: x\r\n\r\n", 505},
      {"GET /livez HTTP/1.1\r\n\r\n", 400},  // no Host
      {"GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
      {"GET /livez HTTP/1.1\r\nHost : x\r\n\r\n", 400},
      {"GET /livez HTTP/1.1\r\nHost: x\r\nBad Name: y\r\n\r\n", 400},
      {"GET /li vez HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"BREW /livez HTTP/1.1\r\nHost: x\r\n\r\n", 501},
      {"DELETE /livez HTTP/1.1\r\nHost: x\r\n\r\n", 405},
      {"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n", 404},
      {"GET * HTTP/1.1\r\nHost: x\r\n\r\n", 404},
      {post + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {post + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", 400},
      {post + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", 400},
      {post + "Content-Length: -1\r\n\r\n", 400},
      {post + "Content-Length: 99999999999999999999\r\n\r\n", 400},
      {post + "Content-Length: 65537\r\n\r\n", 413},
      {post + "Transfer-Encoding: gzip\r\n\r\n", 501},
      {post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501},
      {post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {post + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
      {post + "Transfer-Encoding: chunked\r\n\r\n10001\r\n", 413},
      {post + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", 413},
      {"POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"GET /" + std::string(5000, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n", 414},
      {"GET /" + std::string(20000, 'a'), 414},
      {"GET /livez HTTP/1.1\r\nHost: x\r\nA: " + std::string(9000, 'a') + "\r\n\r\n", 431},
      {"GET /livez HTTP/1.1\r\nHost: x\r\nA: " + std::string(900'000, 'a'), 431},
  };
  for (const auto& one : cases) {
    Client client(port_);
    client.send(one.bytes);
    const Answered answer = client.receive();
    EXPECT_EQ(answer.status, one.status) << one.bytes.substr(0, 120);
    EXPECT_TRUE(answer.has("Content-Type: application/problem+json")) << answer.head;
    if (one.status == 405) {
      EXPECT_TRUE(answer.has("Allow: GET, HEAD"));
    }
    const bool is_harmless = one.status == 404 || one.status == 405 || one.status == 501;
    if (!is_harmless) {
      EXPECT_TRUE(answer.has("Connection: close")) << answer.head;
      EXPECT_TRUE(client.is_closed_by_server()) << one.bytes.substr(0, 120);
    }
  }
  EXPECT_EQ(Client(port_).ask(get("/livez")).status, 200);
}

TEST_F(HttpServerTest, LimitsTheNumberOfFields) {
  start();
  std::string fields;
  for (int i = 0; i < 101; ++i) {
    fields += "A: b\r\n";
  }
  EXPECT_EQ(Client(port_).ask(get("/livez", fields)).status, 431);
}

TEST_F(HttpServerTest, TakesBodiesUpToTheirLimit) {
  start();
  Client client(port_);
  const auto post = [](const std::string& target, std::size_t size) {
    return "POST " + target + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(size) +
           "\r\n\r\n" + std::string(size, 'z');
  };
  EXPECT_EQ(client.ask(post("/echo", 64 * 1024)).body.size(), 64U * 1024);
  EXPECT_EQ(client.ask(post("/upload", 1024 * 1024)).body.size(), 1024U * 1024);
  // The answer arrives although the client is still sending.
  EXPECT_EQ(client.ask(post("/upload", 1024 * 1024 + 1)).status, 413);
  Client other(port_);
  EXPECT_EQ(other.ask(post("/echo", 64 * 1024 + 1)).status, 413);
}

// A smuggled second request must not be answered.
TEST_F(HttpServerTest, AnswersNothingBehindABadRequest) {
  start();
  Client client(port_);
  client.send(
      "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n"
      "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" +
      get("/v1/status"));
  EXPECT_EQ(client.receive().status, 400);
  EXPECT_TRUE(client.is_closed_by_server());
}

TEST_F(HttpServerTest, TellsAClientThatIsTooSlow) {
  start(with_deadlines(400ms));
  Client half(port_);
  half.send("GET /livez HTT");
  EXPECT_EQ(half.receive().status, 408);
  EXPECT_TRUE(half.is_closed_by_server());
  Client body(port_);
  body.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab");
  EXPECT_EQ(body.receive().status, 408);
  Client silent(port_);
  EXPECT_TRUE(silent.is_closed_by_server());
  Client idle(port_);
  EXPECT_EQ(idle.ask(get("/livez")).status, 200);
  EXPECT_TRUE(idle.is_closed_by_server());
  EXPECT_EQ(counters().timeouts, 4U);
  EXPECT_TRUE(comes_to(0));
}

// A connection in use outlives its idle deadline, and pipelining its header deadline.
TEST_F(HttpServerTest, KeepsConnectionsThatAreUsed) {
  // Long enough for a machine that is busy with other things.
  start(with_deadlines(1000ms));
  Client used(port_);
  Client posting(port_);
  Client pipelining(port_);
  const std::string post = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab";
  pipelining.send("GET");
  for (int lives = 0; lives < 2; ++lives) {
    Client clock(port_);  // sends nothing: the server closes it after one deadline
    ::pollfd poll{clock.fd(), POLLIN, 0};
    for (int i = 0; i < kDeadlineMs / 20; ++i) {
      ASSERT_EQ(used.ask(get("/livez")).status, 200);
      ASSERT_TRUE(posting.send(post));
      ASSERT_EQ(posting.ask("cd").body, "abcd");
      // Always leaves a part of the next request behind.
      ASSERT_EQ(pipelining.ask(get("/livez").substr(3) + "GET").status, 200);
      if (::poll(&poll, 1, 20) != 0) break;
    }
  }
}

// One byte now and then does not make the deadline longer.
TEST_F(HttpServerTest, IsNotHeldByADrip) {
  http::Limits limits;
  limits.header_deadline = 200ms;
  start(limits);
  Client drip(port_);
  drip.send("GET /livez HTTP/1.1\r\nA: ");
  ::pollfd poll{drip.fd(), POLLIN, 0};
  int drops = 0;
  while (::poll(&poll, 1, 10) == 0 && ++drops < kDeadlineMs / 10) {
    drip.send("x");
  }
  EXPECT_EQ(drip.receive().status, 408);
}

// Case 41: half-open requests by the hundred.
TEST_F(HttpServerTest, ServesAmongHalfOpenRequests) {
  start();
  std::list<Client> crowd;
  for (int i = 0; i < 600; ++i) {
    crowd.emplace_back(port_).send("GET /v1/status HTTP/1.1\r\nHost: x\r\n");
  }
  // The newcomers' first moment is over when the crowd is all in.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kDeadlineMs);
  while (counters().connections < 600 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  int served = 0;
  while (served < 20 && std::chrono::steady_clock::now() < deadline) {
    if (Client(port_).ask(get("/v1/status")).status == 200) ++served;
  }
  EXPECT_EQ(served, 20);
  EXPECT_EQ(Client(port_).ask(get("/livez")).status, 200);
  EXPECT_LE(open_connections(),
            http::Limits().connections_per_peer_max + http::Limits().probe_connections_max + 2);
}

// Case 46: every connection is busy, none can give way.
TEST_F(HttpServerTest, StillSaysThatItLivesWhenItIsFull) {
  http::Limits limits;
  limits.connections_per_peer_max = 4;
  start(limits);
  std::list<Client> busy;
  std::list<ports::Reply> replies;
  for (int i = 0; i < 4; ++i) {
    busy.emplace_back(port_).send(get("/later"));
    replies.push_back(handler_.wait_for_later());
  }
  const Answered refused = Client(port_).ask(get("/v1/status"));
  EXPECT_EQ(refused.status, 503);
  EXPECT_TRUE(refused.has("Retry-After: 1"));
  const Answered probe = Client(port_).ask(get("/livez"));
  EXPECT_EQ(probe.status, 200);
  EXPECT_TRUE(probe.has("Connection: close"));
  on_server([&] {
    for (ports::Reply& reply : replies) {
      reply.send(http::Response{200, "text/plain", "done", {}, false});
    }
    return 0;
  });
  for (Client& client : busy) {
    EXPECT_EQ(client.receive().body, "done");
  }
}

TEST_F(HttpServerTest, LetsIdleConnectionsGiveWay) {
  http::Limits limits;
  limits.connections_max = 4;
  start(limits);
  std::list<Client> idle;
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(idle.emplace_back(port_).ask(get("/livez")).status, 200);
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kDeadlineMs);
  int status = 0;
  while (status != 200 && std::chrono::steady_clock::now() < deadline) {
    status = Client(port_).ask(get("/v1/status")).status;
  }
  EXPECT_EQ(status, 200);
  EXPECT_TRUE(idle.front().is_closed_by_server()) << "the one that was idle longest";
  EXPECT_EQ(idle.back().ask(get("/livez")).status, 200);
}

TEST_F(HttpServerTest, DropsClientsThatDoNotRead) {
  http::Limits limits;
  limits.write_deadline = 100ms;
  start(limits);
  Client lazy(port_);
  for (int i = 0; i < 8; ++i) {
    lazy.send(get("/big"));
  }
  EXPECT_TRUE(comes_to(1));
  EXPECT_EQ(Client(port_).ask(get("/livez")).status, 200);
  EXPECT_TRUE(comes_to(0));
  EXPECT_EQ(counters().timeouts, 1U);
}

TEST_F(HttpServerTest, SendsLargeAnswersWhole) {
  start();
  Client client(port_);
  EXPECT_EQ(client.ask(get("/big")).body.size(), 32U * 1024 * 1024);
  EXPECT_EQ(client.ask(get("/livez")).status, 200);
}

TEST_F(HttpServerTest, AnswersAClientThatHasFinishedSending) {
  start();
  Client client(port_);
  client.send(get("/livez"));
  ::shutdown(client.fd(), SHUT_WR);
  EXPECT_EQ(client.receive().status, 200);
  EXPECT_TRUE(client.is_closed_by_server());
  Client cut(port_);
  cut.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab");
  ::shutdown(cut.fd(), SHUT_WR);
  EXPECT_TRUE(cut.is_closed_by_server());
}

// Case 46: no file descriptors left.
TEST_F(HttpServerTest, LivesWithoutFileDescriptors) {
  start();
  Client held(port_);
  EXPECT_EQ(held.ask(get("/livez")).status, 200);
  ASSERT_TRUE(held.send(get("/later")));
  ports::Reply reply = handler_.wait_for_later();
  // The client's own descriptors are made first: it shares the table with the server.
  Client probe(port_);
  std::vector<int> eaten;
  // The probe may have been accepted already; a second one is what has to come through.
  EXPECT_EQ(probe.ask(get("/livez")).status, 200);
  probe.close();
  EXPECT_TRUE(comes_to(1));
  const int spare = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::rlimit old{};
  ::getrlimit(RLIMIT_NOFILE, &old);
  ::rlimit low = old;
  low.rlim_cur = 256;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  for (int fd = 0; (fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) {
    eaten.push_back(fd);
  }
  ASSERT_EQ(errno, EMFILE);
  ::close(spare);  // exactly one is free, for the client's end
  {
    Client late(port_);
    ASSERT_TRUE(late.is_connected());
    EXPECT_EQ(late.ask(get("/livez")).status, 200);
  }
  EXPECT_GT(counters().accept_errors, 0U);
  EXPECT_LT(counters().accept_errors, 100U) << "accept must not spin";
  for (const int fd : eaten) {
    ::close(fd);
  }
  ::setrlimit(RLIMIT_NOFILE, &old);
  on_server([&] {
    reply.send(http::Response{200, "text/plain", "done", {}, false});
    return 0;
  });
  EXPECT_EQ(held.receive().body, "done");
  EXPECT_EQ(Client(port_).ask(get("/v1/status")).status, 200);
}

}  // namespace
}  // namespace fdbpack::http_server
