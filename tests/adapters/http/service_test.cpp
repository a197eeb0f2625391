// SPDX-License-Identifier: Apache-2.0
//
// The service on the test's own thread: the loop turns while the test waits for something.
#include "adapters/http/service.hpp"

#include "tests/adapters/http/http_fixture.hpp"
#include "tests/support/temp_dir.hpp"

#include <gmock/gmock.h>

#include <filesystem>

namespace fdbpack::http_server {
namespace {

using std::chrono_literals::operator""ms;
using testing::HasSubstr;

class Service : public testing::Test {
 protected:
  // By default it would take an hour until somebody looks without being told.
  void start(HttpService::Pace pace = {10ms, std::chrono::hours(1)}) {
    std::filesystem::create_directory(dir_.path() / "run");
    http::ServiceSettings settings;
    settings.socket_path = path_;
    service_.emplace(
        io_, handler_, settings, [this](std::string_view what) { notes_ += what; },
        [this] { seen_.push_back(service_->places().front()); }, pace);
    service_->start();
    ASSERT_EQ(seen_.size(), 1u);
    ASSERT_TRUE(seen_.back().is_open) << seen_.back().trouble;
  }
  ~Service() override {
    bool is_stopped = false;
    service_->stop(10ms, [&] { is_stopped = true; });
    EXPECT_TRUE(turn_until([&] { return is_stopped; }));
  }

  template <class Condition>
  bool turn_until(Condition is_met) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kDeadlineMs);
    while (!is_met() && std::chrono::steady_clock::now() < deadline)
      io_.run_one_for(100ms);
    return is_met();
  }
  std::string ask(Client& client) {
    const auto before = service_->server().totals().requests;
    client.send(get("/livez"));
    if (!turn_until([&] { return service_->server().totals().requests > before; })) return "";
    return client.receive().body;
  }
  std::string ask() {
    Client client(path_);
    return client.is_connected() ? ask(client) : "nobody listens";
  }

  support::TempDir dir_;
  const std::string path_ = dir_.file("run/agent.sock");
  boost::asio::io_context io_{1};
  TestHandler handler_;
  std::string notes_;
  std::vector<HttpService::Place> seen_;  // what on_change was told
  std::optional<HttpService> service_;
};

TEST_F(Service, AUnixSocketThatIsRemovedIsMadeAgainAndItsConnectionsGoOn) {
  start();
  Client before(path_);
  EXPECT_EQ(ask(before), "ok\n");
  std::filesystem::remove(path_);
  EXPECT_EQ(ask(), "nobody listens");
  ASSERT_TRUE(turn_until([&] { return seen_.size() == 2; }));
  EXPECT_TRUE(seen_.back().is_open);
  EXPECT_THAT(notes_, HasSubstr("http.lost place=unix:" + path_));
  EXPECT_EQ(ask(), "ok\n");
  EXPECT_EQ(ask(before), "ok\n");
  // And the new one, too.
  std::filesystem::remove(path_);
  ASSERT_TRUE(turn_until([&] { return seen_.size() == 3; }));
  EXPECT_EQ(ask(), "ok\n");
}

TEST_F(Service, ClientsThatCameBeforeTheNameWentAreServed) {
  start();
  Client waiting(path_);  // in the kernel's queue: the loop has not turned
  ASSERT_TRUE(waiting.is_connected());
  std::filesystem::remove(path_);
  ASSERT_TRUE(turn_until([&] { return seen_.size() == 2; }));
  EXPECT_EQ(ask(waiting), "ok\n");
}

TEST_F(Service, WhatCannotBeMadeAgainIsSaidUntilItCan) {
  start();
  std::filesystem::remove(path_);
  dir_.write("run/agent.sock", "no socket");
  ASSERT_TRUE(turn_until([&] { return seen_.size() == 2; }));
  EXPECT_FALSE(seen_.back().is_open);
  EXPECT_THAT(seen_.back().trouble, HasSubstr("is no socket"));
  std::filesystem::remove(path_);
  ASSERT_TRUE(turn_until([&] { return seen_.size() == 3; }));
  EXPECT_TRUE(seen_.back().is_open);
  EXPECT_EQ(ask(), "ok\n");
}

TEST_F(Service, AFolderThatIsMovedAwayIsFoundByLooking) {
  start({10ms, 10ms});
  std::filesystem::rename(dir_.path() / "run", dir_.path() / "away");
  ASSERT_TRUE(turn_until([&] { return seen_.size() == 2; }));
  EXPECT_FALSE(seen_.back().is_open);
  std::filesystem::create_directory(dir_.path() / "run");
  ASSERT_TRUE(turn_until([&] { return seen_.size() == 3; }));
  EXPECT_EQ(ask(), "ok\n");
}

TEST_F(Service, AnotherProcessThatTookTheNameKeepsIt) {
  start();
  std::filesystem::remove(path_);
  auto other = ListeningSocket::open(UnixPlace{path_, 0660, {}});
  ASSERT_TRUE(other) << other.error().message;
  ASSERT_TRUE(turn_until([&] { return seen_.size() == 2; }));
  EXPECT_FALSE(seen_.back().is_open);
  EXPECT_THAT(seen_.back().trouble, HasSubstr("another process listens"));
  EXPECT_TRUE(other->has_name());
}

TEST_F(Service, AModeThatIsChangedIsNoLoss) {
  start();
  std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
  EXPECT_EQ(ask(), "ok\n");
  EXPECT_EQ(seen_.size(), 1u);
}

}  // namespace
}  // namespace fdbpack::http_server
