// SPDX-License-Identifier: Apache-2.0
//
// Clients that mean ill, against the whole agent: whatever they do, processes are restarted and
// /livez is answered (cases 22, 41, 42 and 46 of the fault list; the server alone is tested in
// tests/adapters/http).
#include "tests/agent/api/api_fixture.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include <list>

namespace fdbpack::test {
namespace {

class HostileApiTest : public ApiTest {
 protected:
  // Supervision goes on: who is killed comes back, and the agent says that it lives.
  void expect_alive() {
    const std::size_t before = starts("1");
    ASSERT_EQ(kill(last_pid("1"), SIGKILL), 0);
    EXPECT_TRUE(wait_for_starts("1", before + 1));
    EXPECT_EQ(ask(get("/livez")).status, 200);
    EXPECT_TRUE(is_answered("/livez"));
  }
  // By the same peer that floods: it may be turned away while its own connections are new.
  bool is_answered(const std::string& target) {
    return wait([&] { return ask_tcp(get(target)).status == 200; });
  }
  void start_hostile(std::vector<std::string> arguments = {},
                     std::vector<std::string> prefix = {}) {
    write_conf({{"1", ""}}, "restart_delay = 0\n");
    start_api(std::move(arguments), std::move(prefix));
    ASSERT_TRUE(wait_for_starts("1", 1));
  }
};

TEST_F(HostileApiTest, SlowlorisKeepsNobodyOut) {
  start_hostile();
  std::list<Client> slow;
  for (int i = 0; i < 600; ++i) {
    slow.emplace_back(port());
    slow.back().send("GET /v1/status HTTP/1.1\r\nHost: localhost\r\nX-A: ");
    if (i % 100 == 0) expect_alive();
  }
  EXPECT_TRUE(is_answered("/v1/status"));
  expect_alive();
}

TEST_F(HostileApiTest, ClientsThatDoNotReadHoldUpNobody) {
  start_hostile();
  std::string many;
  for (int i = 0; i < 2000; ++i)
    many += get("/v1/status");
  std::list<Client> lazy;
  for (int i = 0; i < 10; ++i) {
    lazy.emplace_back(port());
    fcntl(lazy.back().fd(), F_SETFL, O_NONBLOCK);
    lazy.back().send(many);
  }
  expect_alive();
  lazy.clear();  // in the middle of an answer
  expect_alive();
}

TEST_F(HostileApiTest, FloodOfConnectionsAndNonsense) {
  start_hostile();
  for (int round = 0; round < 5; ++round) {
    std::list<Client> flood;
    for (int i = 0; i < 300; ++i) {
      flood.emplace_back(port());
      flood.back().send(i % 3 == 0   ? std::string(20'000, 'A')
                        : i % 3 == 1 ? "POST /v1/drain HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n"
                                       "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
                                     : "\x16\x03\x01\x02\x00");
      if (i % 2 == 0) shutdown(flood.back().fd(), SHUT_WR);
    }
    expect_alive();
  }
}

// Descriptors run out: clients are turned away, processes are started all the same.
TEST_F(HostileApiTest, ExhaustedDescriptorsCostNoProcess) {
  start_hostile({"--http-limit", "connections=1000", "--http-limit", "connections_per_peer=1000"},
                {"prlimit", "--nofile=64:64"});
  std::list<Client> flood;
  for (int i = 0; i < 200; ++i) {
    flood.emplace_back(port());
    flood.back().send(get("/livez"));
  }
  expect_alive();
  flood.clear();
  expect_alive();
}

}  // namespace
}  // namespace fdbpack::test
