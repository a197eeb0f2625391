// SPDX-License-Identifier: Apache-2.0
//
// Several coordinators on one real etcd, and everything that can come between them.
#include "fdbpack/base/base64.hpp"
#include "tests/adapters/store/store_world.hpp"
#include "tests/adapters/store/unix_proxy.hpp"

#include <gmock/gmock.h>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

namespace fdbpack::test {
namespace {

using testing::HasSubstr;

class EtcdStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = EtcdServer::reason_to_skip()) GTEST_SKIP() << *why;
    server.emplace();
  }
  std::unique_ptr<store::EtcdStore> direct(std::chrono::seconds lease = 4s) {
    return make_etcd_store(loop, {server->url()}, quick_etcd_options(lease));
  }
  std::unique_ptr<UnixProxy> make_proxy(const std::string& name) {
    return std::make_unique<UnixProxy>(loop.io, server->folder().file(name), server->socket());
  }
  std::unique_ptr<store::EtcdStore> through(const std::string& name,
                                            std::chrono::seconds lease = 4s) {
    return make_etcd_store(loop, {"unix://" + server->folder().file(name)},
                           quick_etcd_options(lease));
  }
  std::string value_of(Store& store, const std::string& key) {
    const auto snapshot = loop.load(store, key);
    EXPECT_TRUE(snapshot) << snapshot.error().message;
    return snapshot && !snapshot->entries.empty() ? snapshot->entries.front().value : "none";
  }

  std::optional<EtcdServer> server;
  Loop loop;
};

TEST_F(EtcdStoreTest, OneLeadsAndTheOthersSeeWho) {
  const auto first = direct();
  const auto second = direct();
  Candidate one(loop, *first, "one");
  ASSERT_TRUE(one.wait(true));
  Candidate two(loop, *second, "two");
  ASSERT_TRUE(loop.run_until([&] { return second->leader().has_value(); }));
  EXPECT_EQ(second->leader()->name, "one");
  EXPECT_EQ(loop.commit(*second, put("a", "1")).error().code, ErrorCode::precondition);
  ASSERT_TRUE(loop.commit(*first, put("a", "2")));
  EXPECT_TRUE(two.told.empty());
}

TEST_F(EtcdStoreTest, WhoStepsDownMakesWayAtOnce) {
  store::EtcdOptions slow = quick_etcd_options();
  slow.lease = 60s;
  const auto first = make_etcd_store(loop, {server->url()}, slow);
  const auto second = make_etcd_store(loop, {server->url()}, slow);
  Candidate one(loop, *first, "one");
  ASSERT_TRUE(one.wait(true));
  Candidate two(loop, *second, "two");
  ASSERT_TRUE(loop.run_until([&] { return second->leader().has_value(); }));
  one.subscription.reset();
  EXPECT_TRUE(two.wait(true, 15s)) << "the watch tells, not the end of the lease";
  EXPECT_EQ(loop.commit(*first, put("a", "1")).error().code, ErrorCode::precondition);
}

TEST_F(EtcdStoreTest, KeepsLeadingBeyondItsLease) {
  const auto store = direct(2s);
  Candidate one(loop, *store, "one");
  ASSERT_TRUE(one.wait(true));
  EXPECT_FALSE(one.wait(false, 4s));
  EXPECT_TRUE(loop.commit(*store, put("a", "1")));
}

TEST_F(EtcdStoreTest, LeadershipMovesWithinTheLeaseAfterKill9) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    Loop own;
    const auto store = make_etcd_store(own, {server->url()}, quick_etcd_options(2s));
    Candidate doomed(own, *store, "doomed");
    if (!doomed.wait(true)) ::_exit(1);
    [[maybe_unused]] const auto result = own.commit(*store, put("by", "doomed"));
    [[maybe_unused]] const bool never = own.run_until([] { return false; });
    ::_exit(2);
  }
  const auto store = direct();
  ASSERT_TRUE(loop.run_until([&] { return value_of(*store, "by") == "doomed"; }));
  Candidate heir(loop, *store, "heir");
  ASSERT_TRUE(loop.run_until([&] { return store->leader().has_value(); }));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  const auto killed_at = loop.clock.now();
  ASSERT_TRUE(heir.wait(true));
  // The lease of two seconds, what etcd adds to it (it looks twice a second), and a busy machine.
  EXPECT_LT(loop.clock.now() - killed_at, Duration(8s));
  EXPECT_EQ(value_of(*store, "by"), "doomed");
  EXPECT_TRUE(loop.commit(*store, put("by", "heir")));
}

// The process stands still beyond its lease, as in a long garbage collection or a paused machine.
TEST_F(EtcdStoreTest, AWriteOfALeaderThatStoodStillDoesNotLand) {
  int ready[2], go[2];
  ASSERT_EQ(::pipe(ready), 0);
  ASSERT_EQ(::pipe(go), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    Loop own;
    const auto store = make_etcd_store(own, {server->url()}, quick_etcd_options(2s));
    Candidate sleeper(own, *store, "sleeper");
    if (!sleeper.wait(true)) ::_exit(1);
    if (::write(ready[1], "r", 1) != 1) ::_exit(2);
    char byte = 0;
    if (::read(go[0], &byte, 1) != 1) ::_exit(3);  // the whole process waits here
    // It still believes that it leads; the clock or the fence knows better.
    const auto result = own.commit(*store, put("by", "sleeper"));
    ::_exit(!result && result.error().code == ErrorCode::precondition ? 42 : 4);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  ::kill(child, SIGSTOP);
  const auto store = direct();
  Candidate heir(loop, *store, "heir");
  ASSERT_TRUE(heir.wait(true));
  ASSERT_TRUE(loop.commit(*store, put("by", "heir")));
  ASSERT_EQ(::write(go[1], "g", 1), 1);
  ::kill(child, SIGCONT);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 42);
  EXPECT_EQ(value_of(*store, "by"), "heir");
  for (const int fd : {ready[0], ready[1], go[0], go[1]})
    ::close(fd);
}

// A clock that runs slow: the deposed leader is sure that its lease is good. Only the fence is
// left.
class SlowClock final : public ports::Clock {
 public:
  explicit SlowClock(ports::Clock& real) : real_(real), start_(real.now()) {}
  [[nodiscard]] Instant now() const override { return start_ + (real_.now() - start_) / 1000; }
  [[nodiscard]] WallTime wall() const override { return real_.wall(); }
  [[nodiscard]] std::unique_ptr<ports::Alarm> make_alarm(std::function<void()> act) override {
    struct SlowAlarm final : ports::Alarm {
      SlowAlarm(SlowClock& on, std::unique_ptr<ports::Alarm> of) : clock(on), real(std::move(of)) {}
      void set(Instant at) override { real->set(clock.start_ + (at - clock.start_) * 1000); }
      void clear() override { real->clear(); }
      SlowClock& clock;
      std::unique_ptr<ports::Alarm> real;
    };
    return std::make_unique<SlowAlarm>(*this, real_.make_alarm(std::move(act)));
  }

 private:
  ports::Clock& real_;
  const Instant start_;
};

TEST_F(EtcdStoreTest, TheFenceHoldsEvenIfTheClockLies) {
  SlowClock slow(loop.clock);
  const std::string url = server->url();
  store::EtcdStore first(slow, quick_etcd_options(2s), 1, [&](std::size_t) {
    return std::make_unique<http_client::Client>(loop.io, *http::parse_endpoint(url));
  });
  Candidate one(loop, first, "one");
  ASSERT_TRUE(one.wait(true));
  // Its watch is on time all the same; without the loop it hears nothing.
  Loop other;
  const auto second = make_etcd_store(other, {url});
  Candidate two(other, *second, "two");
  ASSERT_TRUE(two.wait(true));
  ASSERT_TRUE(other.commit(*second, put("by", "two")));
  EXPECT_TRUE(one.leads);
  const auto late = loop.commit(first, put("by", "one"));
  ASSERT_FALSE(late);
  EXPECT_EQ(to_string(late.error().code), to_string(ErrorCode::precondition));
  EXPECT_FALSE(one.leads);
  EXPECT_EQ(other.load(*second)->entries.at(0).value, "two");
}

TEST_F(EtcdStoreTest, StopsLeadingByItsOwnClockWhenEtcdIsNotReached) {
  const auto proxy = make_proxy("proxy");
  const auto first = through("proxy", 2s);
  const auto second = direct();
  Candidate one(loop, *first, "one");
  ASSERT_TRUE(one.wait(true));
  Candidate two(loop, *second, "two");
  // Nobody may ever see two leaders.
  bool were_two = false;
  proxy->hold();
  ASSERT_TRUE(loop.run_until([&] {
    were_two = were_two || (one.leads && two.leads);
    return two.leads;
  }));
  EXPECT_FALSE(were_two);
  EXPECT_FALSE(one.leads);
  ASSERT_TRUE(loop.commit(*second, put("by", "two")));
  proxy->pass();
  EXPECT_EQ(loop.commit(*first, put("by", "one")).error().code, ErrorCode::precondition);
  EXPECT_EQ(value_of(*first, "by"), "two");
  ASSERT_TRUE(loop.run_until([&] { return first->leader().has_value(); }));
  EXPECT_EQ(first->leader()->name, "two");
}

TEST_F(EtcdStoreTest, ACommitWhoseAnswerIsLostIsInDoubtUntilALoad) {
  const auto proxy = make_proxy("proxy");
  store::EtcdOptions options = quick_etcd_options();
  options.lease = 30s;
  options.timeout = 1s;
  const auto store =
      make_etcd_store(loop, {"unix://" + server->folder().file("proxy"), server->url()}, options);
  Candidate one(loop, *store, "one");
  ASSERT_TRUE(one.wait(true));
  ASSERT_TRUE(loop.commit(*store, put("a", "0")));
  // Wherever the next commit goes: if through the proxy, it stays there.
  proxy->hold_request(to_base64("/test/data/held"));
  int tries = 0;
  Result<StoreRevision> held = StoreRevision{0};
  while (held && ++tries < 20) {
    held = loop.commit(*store, put("held", std::to_string(tries)));
    if (held) {
      // It went directly: make the link change over.
      server->stop();
      [[maybe_unused]] const auto lost = loop.commit(*store, put("other", "1"));
      server->resume();
      ASSERT_TRUE(loop.load(*store));
    }
  }
  ASSERT_FALSE(held);
  EXPECT_EQ(to_string(held.error().code), to_string(ErrorCode::unavailable))
      << held.error().message;
  ASSERT_TRUE(proxy->holds_request());
  const auto behind = loop.commit(*store, put("b", "1"));
  ASSERT_FALSE(behind);
  EXPECT_EQ(to_string(behind.error().code), to_string(ErrorCode::conflict));
  const std::string shown = value_of(*store, "held");
  EXPECT_NE(shown, std::to_string(tries));
  // Only now does the old request reach etcd. It must not change what the load has shown.
  proxy->pass();
  const auto next = loop.commit(*store, put("b", "2"));
  ASSERT_TRUE(next) << next.error().message;
  ASSERT_TRUE(loop.run_until([&] { return !proxy->holds_request(); }));
  EXPECT_EQ(value_of(*store, "held"), shown);
  ASSERT_TRUE(loop.commit(*store, put("b", "3")));
  EXPECT_EQ(value_of(*store, "held"), shown);
}

TEST_F(EtcdStoreTest, EtcdDownIsToldAndGoesOnAfterwards) {
  const auto store = direct(2s);
  std::optional<Candidate> one(std::in_place, loop, *store, "one");
  ASSERT_TRUE(one->wait(true));
  const auto revision = loop.commit(*store, put("a", "1"));
  ASSERT_TRUE(revision);
  std::vector<std::string> seen;
  auto following = store->follow(*revision, [&](const Result<std::vector<StoreChange>>& changes) {
    ASSERT_TRUE(changes) << changes.error().message;
    for (const auto& change : *changes)
      seen.push_back(change.value.value_or("none"));
  });
  server->kill();
  ASSERT_TRUE(one->wait(false));
  EXPECT_EQ(loop.commit(*store, put("a", "2")).error().code, ErrorCode::precondition);
  const auto load = loop.load(*store);
  ASSERT_FALSE(load);
  EXPECT_EQ(to_string(load.error().code), to_string(ErrorCode::timed_out));
  server->start();
  ASSERT_TRUE(one->wait(true));
  EXPECT_EQ(value_of(*store, "a"), "1");
  ASSERT_TRUE(loop.commit(*store, put("a", "3")));
  ASSERT_TRUE(loop.run_until([&] { return seen == std::vector<std::string>{"3"}; }));
}

TEST_F(EtcdStoreTest, AStoppedEtcdIsToldInTime) {
  store::EtcdOptions options = quick_etcd_options();
  options.timeout = 500ms;
  options.lease = 30s;
  const auto store = make_etcd_store(loop, {server->url()}, options);
  Candidate one(loop, *store, "one");
  ASSERT_TRUE(one.wait(true));
  ASSERT_TRUE(loop.commit(*store, put("a", "1")));
  server->stop();
  const auto result = loop.commit(*store, put("a", "2"));
  ASSERT_FALSE(result) << "it was stopped, and answered";
  EXPECT_EQ(to_string(result.error().code), to_string(ErrorCode::unavailable));
  server->resume();
  const auto shown = value_of(*store, "a");  // either, and it stays so
  ASSERT_TRUE(loop.commit(*store, put("b", "1")));
  EXPECT_EQ(value_of(*store, "a"), shown);
}

TEST_F(EtcdStoreTest, GoesToAnotherEndpointWhenOneIsAway) {
  const auto proxy = make_proxy("proxy");
  const std::string nobody = "unix://" + server->folder().file("nobody");
  const auto store =
      make_etcd_store(loop, {nobody, "unix://" + server->folder().file("proxy"), server->url()});
  Candidate one(loop, *store, "one");
  ASSERT_TRUE(one.wait(true));
  for (int i = 0; i < 6; ++i) {
    i % 2 == 0 ? proxy->cut() : proxy->pass();
    const auto result = loop.commit(*store, put("a", std::to_string(i)));
    if (!result) {
      ASSERT_EQ(to_string(result.error().code), to_string(ErrorCode::unavailable));
      ASSERT_TRUE(loop.load(*store));
      continue;
    }
    EXPECT_EQ(value_of(*store, "a"), std::to_string(i));
  }
  EXPECT_TRUE(one.leads);
}

TEST_F(EtcdStoreTest, AFollowerMissesNothingThroughLostConnections) {
  const auto proxy = make_proxy("proxy");
  const auto leader = direct();
  const auto follower = through("proxy");
  Candidate one(loop, *leader, "one");
  ASSERT_TRUE(one.wait(true));
  const auto start = loop.load(*follower);
  ASSERT_TRUE(start);
  std::vector<std::string> seen;
  auto following =
      follower->follow(start->revision, [&](const Result<std::vector<StoreChange>>& changes) {
        ASSERT_TRUE(changes) << changes.error().message;
        for (const auto& change : *changes)
          seen.push_back(change.value.value_or("none"));
      });
  std::vector<std::string> expected;
  for (int i = 0; i < 12; ++i) {
    if (i % 4 == 1) proxy->cut();
    if (i % 4 == 3) proxy->pass();
    expected.push_back(std::to_string(i));
    ASSERT_TRUE(loop.commit(*leader, put("a", expected.back())));
    if (i % 4 == 3) {
      ASSERT_TRUE(loop.run_until([&] { return seen == expected; }));
    }
  }
  EXPECT_EQ(seen, expected);
}

TEST_F(EtcdStoreTest, AFollowerThatMissedACompactionIsTold) {
  const auto proxy = make_proxy("proxy");
  const auto leader = direct();
  const auto follower = through("proxy");
  Candidate one(loop, *leader, "one");
  ASSERT_TRUE(one.wait(true));
  const auto start = loop.commit(*leader, put("a", "1"));
  ASSERT_TRUE(start);
  std::size_t seen = 0;
  std::optional<Error> error;
  auto following = follower->follow(*start, [&](const Result<std::vector<StoreChange>>& changes) {
    if (changes) ++seen;
    if (!changes) error = changes.error();
  });
  ASSERT_TRUE(loop.commit(*leader, put("a", "2")));
  ASSERT_TRUE(loop.run_until([&] { return seen == 1; }));
  proxy->cut();
  ASSERT_TRUE(loop.commit(*leader, put("a", "3")));
  const auto last = loop.commit(*leader, put("a", "4"));
  ASSERT_TRUE(last);
  server->ask("/v3/kv/compaction", R"({"revision":")" + std::to_string(*last) + "\"}");
  proxy->pass();
  ASSERT_TRUE(loop.run_until([&] { return error.has_value(); }));
  EXPECT_EQ(to_string(error->code), to_string(ErrorCode::not_found));
  // As it is told, it loads again and follows from there.
  const auto fresh = loop.load(*follower);
  ASSERT_TRUE(fresh);
  seen = 0;
  following =
      follower->follow(fresh->revision, [&](const auto& changes) { seen += changes ? 1U : 0; });
  ASSERT_TRUE(loop.commit(*leader, put("a", "5")));
  EXPECT_TRUE(loop.run_until([&] { return seen == 1; }));
}

TEST_F(EtcdStoreTest, ASilentWatchIsMadeAnewElsewhere) {
  const auto proxy = make_proxy("proxy");
  proxy->hold();
  const auto leader = direct();
  Candidate one(loop, *leader, "one");
  ASSERT_TRUE(one.wait(true));
  // The seed chooses where a watch begins: some of these begin at the proxy.
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    store::EtcdOptions options = quick_etcd_options();
    options.watch_renewal = 200ms;
    options.seed = seed;
    const auto follower =
        make_etcd_store(loop, {"unix://" + server->folder().file("proxy"), server->url()}, options);
    const auto start = loop.commit(*leader, put("a", "1"));
    ASSERT_TRUE(start);
    std::size_t seen = 0;
    auto following =
        follower->follow(*start, [&](const auto& changes) { seen += changes ? 1U : 0U; });
    ASSERT_TRUE(loop.commit(*leader, put("a", "2")));
    ASSERT_TRUE(loop.run_until([&] { return seen == 1; })) << "seed " << seed;
  }
}

TEST_F(EtcdStoreTest, LoadsPageByPageAsOfOneRevision) {
  store::EtcdOptions options = quick_etcd_options();
  options.page = 7;
  const auto store = make_etcd_store(loop, {server->url()}, options);
  Candidate one(loop, *store, "one");
  ASSERT_TRUE(one.wait(true));
  StoreTransaction many;
  for (int i = 0; i < 100; ++i)
    many.writes.push_back({"k" + std::to_string(i), "old"});
  const auto before = loop.commit(*store, many);
  ASSERT_TRUE(before);
  for (auto& write : many.writes)
    write.value = "new";
  const auto other = direct();
  std::optional<Result<StoreSnapshot>> snapshot;
  bool is_committed = false;
  other->load("", [&](auto result) { snapshot = std::move(result); });
  store->load("", [&](auto result) { snapshot = std::move(result); });
  store->commit(many, [&](const auto& result) { is_committed = result.has_value(); });
  ASSERT_TRUE(loop.run_until([&] { return is_committed; }));
  ASSERT_TRUE(snapshot && *snapshot);
  ASSERT_EQ((*snapshot)->entries.size(), 100U);
  EXPECT_EQ((*snapshot)->revision, *before);
  for (const auto& entry : (*snapshot)->entries)
    EXPECT_EQ(entry.value, "old");
}

TEST_F(EtcdStoreTest, LogsInAndAgainWhenItsTokenIsGone) {
  const auto b64 = [](const std::string& text) { return to_base64(text); };
  server->ask("/v3/auth/user/add", R"({"name":"root","password":"secret"})");
  server->ask("/v3/auth/role/add", R"({"name":"root"})");
  server->ask("/v3/auth/user/grant", R"({"user":"root","role":"root"})");
  server->ask("/v3/auth/user/add", R"({"name":"pack","password":"pass word"})");
  server->ask("/v3/auth/role/add", R"({"name":"pack"})");
  server->ask("/v3/auth/role/grant", R"({"name":"pack","perm":{"permType":"READWRITE","key":")" +
                                         b64("/test/") + R"(","range_end":")" + b64("/test0") +
                                         R"("}})");
  server->ask("/v3/auth/user/grant", R"({"user":"pack","role":"pack"})");
  ASSERT_THAT(server->ask("/v3/auth/enable", "{}"), HasSubstr("header"));

  const auto anonymous = direct();
  EXPECT_FALSE(loop.load(*anonymous));
  store::EtcdOptions options = quick_etcd_options();
  options.user = "pack";
  options.password = "wrong";
  const auto wrong = make_etcd_store(loop, {server->url()}, options);
  const auto refused = loop.load(*wrong);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("authentication failed"));
  options.password = "pass word";
  const auto store = make_etcd_store(loop, {server->url()}, options);
  Candidate one(loop, *store, "one");
  ASSERT_TRUE(one.wait(true));
  std::size_t seen = 0;
  const auto start = loop.load(*store);
  ASSERT_TRUE(start) << start.error().message;
  auto following =
      store->follow(start->revision, [&](const auto& changes) { seen += changes ? 1U : 0; });
  ASSERT_TRUE(loop.commit(*store, put("a", "1")));
  ASSERT_TRUE(loop.run_until([&] { return seen == 1; }));
  // Simple tokens are gone with the server that gave them.
  server->kill();
  server->start();
  ASSERT_TRUE(loop.run_until([&] { return loop.commit(*store, put("a", "2")).has_value(); }));
  EXPECT_TRUE(loop.run_until([&] { return seen >= 2; }));
}

}  // namespace
}  // namespace fdbpack::test
