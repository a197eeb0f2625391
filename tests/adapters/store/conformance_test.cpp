// SPDX-License-Identifier: Apache-2.0
//
// What ports/store.hpp promises, of every store.
#include "fdbpack/base/random.hpp"
#include "tests/adapters/store/store_world.hpp"
#include "tests/support/seeds.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

namespace fdbpack::test {
namespace {

enum class Kind { memory, sqlite, etcd };

std::unique_ptr<StoreWorld> make_world(Kind kind) {
  switch (kind) {
    case Kind::memory:
      return std::make_unique<MemoryWorld>();
    case Kind::sqlite:
      return std::make_unique<SqliteWorld>();
    case Kind::etcd:
      return std::make_unique<EtcdWorld>();
  }
  return nullptr;
}

std::string to_string(Kind kind) {
  return kind == Kind::memory ? "Memory" : kind == Kind::sqlite ? "Sqlite" : "Etcd";
}

void PrintTo(Kind kind, std::ostream* to) {
  *to << to_string(kind);
}

std::string name_of(const testing::TestParamInfo<Kind>& one) {
  return to_string(one.param);
}

class StoreTest : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (GetParam() == Kind::etcd) {
      if (const auto why = EtcdServer::reason_to_skip()) GTEST_SKIP() << *why;
    }
    world = make_world(GetParam());
    store = world->make(loop);
  }
  // The store leads after this.
  void lead() {
    candidate = std::make_unique<Candidate>(loop, *store, "one");
    ASSERT_TRUE(candidate->wait(true));
  }
  StoreRevision committed(StoreTransaction transaction) {
    const auto result = loop.commit(*store, std::move(transaction));
    EXPECT_TRUE(result) << result.error().message;
    return result.value_or(0);
  }
  void expect_refused(StoreTransaction transaction, ErrorCode code) {
    const auto result = loop.commit(*store, std::move(transaction));
    ASSERT_FALSE(result);
    EXPECT_EQ(fdbpack::to_string(result.error().code), fdbpack::to_string(code))
        << result.error().message;
  }
  std::map<std::string, std::string> content(const std::string& prefix = "") {
    const auto snapshot = loop.load(*store, prefix);
    EXPECT_TRUE(snapshot) << snapshot.error().message;
    std::map<std::string, std::string> result;
    if (!snapshot) return result;
    for (const auto& entry : snapshot->entries)
      result[entry.key] = entry.value;
    return result;
  }

  Loop loop;
  std::unique_ptr<StoreWorld> world;
  std::unique_ptr<Store> store;
  std::unique_ptr<Candidate> candidate;
};

using Content = std::map<std::string, std::string>;

TEST_P(StoreTest, IsEmptyAtFirst) {
  const auto snapshot = loop.load(*store);
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  EXPECT_TRUE(snapshot->entries.empty());
}

TEST_P(StoreTest, KeepsWhatWasCommitted) {
  lead();
  const auto first = committed({{}, {{"a", "1"}, {"b", "2"}}});
  const auto second = committed({{}, {{"a", std::nullopt}, {"c", "3"}}});
  EXPECT_GT(second, first);
  const auto snapshot = loop.load(*store);
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->revision, second);
  const std::vector<ports::StoreEntry> expected = {{"b", "2", first}, {"c", "3", second}};
  EXPECT_EQ(snapshot->entries, expected);
}

TEST_P(StoreTest, KeepsItForTheNextCoordinator) {
  lead();
  const auto revision = committed(put("a", "1"));
  candidate.reset();
  store.reset();
  store = world->make(loop);
  lead();
  const auto snapshot = loop.load(*store);
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->entries, (std::vector<ports::StoreEntry>{{"a", "1", revision}}));
  EXPECT_GT(committed(put("a", "2")), revision);
}

TEST_P(StoreTest, LoadsOnlyWhatIsBelowThePrefix) {
  lead();
  const std::string last("z\xFF\xFF", 3);
  committed({{}, {{"a", "1"}, {"a/b", "2"}, {"a/c", "3"}, {"a0", "4"}, {"b", "5"}, {last, "6"}}});
  EXPECT_EQ(content("a/"), (Content{{"a/b", "2"}, {"a/c", "3"}}));
  EXPECT_EQ(content("a"), (Content{{"a", "1"}, {"a/b", "2"}, {"a/c", "3"}, {"a0", "4"}}));
  EXPECT_EQ(content(last), (Content{{last, "6"}}));
  EXPECT_EQ(content("c"), Content{});
}

TEST_P(StoreTest, HoldsAnyBytes) {
  lead();
  std::string all;
  for (int c = 0; c < 256; ++c)
    all += static_cast<char>(c);
  const std::string zero("\0", 1);
  committed({{}, {{all, all}, {zero, ""}, {"\xFF", "x"}}});
  EXPECT_EQ(content(), (Content{{all, all}, {zero, ""}, {"\xFF", "x"}}));
  EXPECT_EQ(content("\xFF"), (Content{{"\xFF", "x"}}));
}

TEST_P(StoreTest, WritesNothingWhenAConditionDoesNotHold) {
  lead();
  const auto revision = committed({{}, {{"a", "1"}, {"b", "1"}}});
  expect_refused({{{"a", revision + 1}}, {{"b", "2"}}}, ErrorCode::conflict);
  expect_refused({{{"a", 0}}, {{"b", "2"}}}, ErrorCode::conflict);
  expect_refused({{{"a", revision}, {"c", revision}}, {{"b", "2"}}}, ErrorCode::conflict);
  EXPECT_EQ(content(), (Content{{"a", "1"}, {"b", "1"}}));
  const auto next = committed({{{"a", revision}, {"c", 0}}, {{"b", "2"}, {"c", "3"}}});
  EXPECT_EQ(content(), (Content{{"a", "1"}, {"b", "2"}, {"c", "3"}}));
  expect_refused({{{"b", revision}}, {{"b", "3"}}}, ErrorCode::conflict);
  committed({{{"b", next}}, {{"b", std::nullopt}}});
  committed({{{"b", 0}}, {{"b", "4"}}});
}

TEST_P(StoreTest, ATransactionThatChangesNothingHasTheLastRevision) {
  lead();
  committed(put("a", "1"));
  const auto before = loop.load(*store)->revision;
  EXPECT_EQ(committed({{}, {{"b", std::nullopt}}}), before);
  EXPECT_EQ(committed({}), before);
  EXPECT_EQ(loop.load(*store)->revision, before);
  EXPECT_GT(committed(put("a", "1")), before) << "writing the same again is a change";
}

TEST_P(StoreTest, WritesOnlyForWhoLeads) {
  expect_refused(put("a", "1"), ErrorCode::precondition);
  lead();
  committed(put("a", "1"));
  candidate.reset();
  expect_refused(put("a", "2"), ErrorCode::precondition);
  EXPECT_EQ(content(), (Content{{"a", "1"}}));
  lead();
  committed(put("a", "3"));
  EXPECT_EQ(candidate->told, std::vector<bool>{true});
}

TEST_P(StoreTest, SaysWhoLeads) {
  EXPECT_EQ(store->leader(), std::nullopt);
  lead();
  EXPECT_EQ(store->leader(), (ports::StoreLeader{"one", "http://one:4480"}));
  candidate.reset();
  EXPECT_EQ(store->leader(), std::nullopt);
}

TEST_P(StoreTest, AnswersInTheOrderOfTheCallsAndNeverFromInsideThem) {
  lead();
  std::vector<int> order;
  StoreRevision last = 0;
  for (int i = 0; i < 40; ++i) {
    if (i % 5 == 4) {
      store->load("", [&order, &last, i](const Result<StoreSnapshot>& result) {
        ASSERT_TRUE(result);
        EXPECT_EQ(result->revision, last) << "a load sees the commits before it";
        order.push_back(i);
      });
    } else {
      store->commit(put("k" + std::to_string(i % 3), std::to_string(i)),
                    [&order, &last, i](const Result<StoreRevision>& result) {
                      ASSERT_TRUE(result);
                      EXPECT_GT(*result, last);
                      last = *result;
                      order.push_back(i);
                    });
    }
  }
  EXPECT_TRUE(order.empty());
  ASSERT_TRUE(loop.run_until([&] { return order.size() == 40; }));
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_P(StoreTest, OneConflictAmongManyLeavesTheOthersAlone) {
  lead();
  const auto revision = committed(put("a", "0"));
  std::vector<ErrorCode> codes;
  int answers = 0;
  for (int i = 0; i < 9; ++i) {
    // Each third asks for what the one before it has changed already.
    StoreTransaction transaction = put("k" + std::to_string(i), "x");
    if (i % 3 == 1) transaction = {{{"a", i == 1 ? revision : StoreRevision{1}}}, {{"a", "1"}}};
    if (i % 3 == 2) transaction = {{{"a", revision}}, {{"bad" + std::to_string(i), "x"}}};
    store->commit(std::move(transaction), [&](const Result<StoreRevision>& result) {
      ++answers;
      if (!result) codes.push_back(result.error().code);
    });
  }
  ASSERT_TRUE(loop.run_until([&] { return answers == 9; }));
  EXPECT_EQ(codes, std::vector<ErrorCode>(5, ErrorCode::conflict));
  EXPECT_EQ(content(), (Content{{"a", "1"}, {"k0", "x"}, {"k3", "x"}, {"k6", "x"}}));
}

TEST_P(StoreTest, TakesTransactionsUpToTheLimitsAndRefusesLargerOnes) {
  lead();
  StoreTransaction many;
  for (std::size_t i = 0; i < ports::kStoreWritesMax; ++i)
    many.writes.push_back({"many/" + std::to_string(i), "v"});
  for (std::size_t i = 0; i < ports::kStoreConditionsMax; ++i)
    many.conditions.push_back({"none/" + std::to_string(i), 0});
  const auto revision = committed(many);
  const auto snapshot = loop.load(*store, "many/");
  ASSERT_TRUE(snapshot);
  ASSERT_EQ(snapshot->entries.size(), ports::kStoreWritesMax);
  for (const auto& entry : snapshot->entries)
    ASSERT_EQ(entry.changed_at, revision) << "one transaction, one revision";

  const std::string key(ports::kStoreKeyBytesMax, 'k');
  const std::string value(ports::kStoreTransactionBytesMax - key.size(), 'v');
  committed(put(key, value));
  expect_refused(put(key, value + "v"), ErrorCode::invalid_argument);
  expect_refused(put(key + "k", "v"), ErrorCode::invalid_argument);
  expect_refused(put("", "v"), ErrorCode::invalid_argument);
  expect_refused({{}, {{"a", "1"}, {"a", "2"}}}, ErrorCode::invalid_argument);
  many.writes.push_back({"one", "more"});
  expect_refused(many, ErrorCode::invalid_argument);
}

TEST_P(StoreTest, TellsFollowersEveryTransactionOnceAndInOrder) {
  lead();
  const auto start = committed(put("before", "1"));
  std::vector<std::vector<StoreChange>> seen;
  auto following = store->follow(start, [&](Result<std::vector<StoreChange>> changes) {
    ASSERT_TRUE(changes) << changes.error().message;
    seen.push_back(*std::move(changes));
  });
  const auto one = committed({{}, {{"a", "1"}, {"b", "2"}}});
  const auto two = committed({{}, {{"a", std::nullopt}, {"none", std::nullopt}}});
  ASSERT_TRUE(loop.run_until([&] { return seen.size() == 2; }));
  EXPECT_THAT(seen[0], testing::UnorderedElementsAre(StoreChange{"a", "1", one},
                                                     StoreChange{"b", "2", one}));
  EXPECT_EQ(seen[1], (std::vector<StoreChange>{{"a", std::nullopt, two}}));
  // From the past, too.
  std::size_t again = 0;
  auto late = store->follow(start, [&](const auto& changes) { again += changes ? 1U : 100U; });
  ASSERT_TRUE(loop.run_until([&] { return again == 2; }));
  following.reset();
  const auto count = seen.size();
  committed(put("a", "4"));
  ASSERT_TRUE(loop.run_until([&] { return again == 3; }));
  EXPECT_EQ(seen.size(), count) << "nothing after the subscription was dropped";
}

TEST_P(StoreTest, AFollowerMayEndItselfInsideTheCall) {
  lead();
  const auto start = committed(put("a", "1"));
  int calls = 0;
  std::unique_ptr<ports::StoreSubscription> following;
  following = store->follow(start, [&](const auto&) {
    ++calls;
    following.reset();
  });
  committed(put("a", "2"));
  committed(put("a", "3"));
  ASSERT_TRUE(loop.run_until([&] { return calls > 0; }));
  committed(put("a", "4"));
  EXPECT_EQ(calls, 1);
}

TEST_P(StoreTest, TellsAFollowerThatWhatItAsksForIsGone) {
  lead();
  const auto start = committed(put("a", "1"));
  committed(put("a", "2"));
  const auto last = committed(put("a", "3"));
  world->compact(last);
  if (GetParam() == Kind::sqlite) {  // forgets when it is opened anew
    candidate.reset();
    store.reset();
    store = world->make(loop);
  }
  std::optional<Error> error;
  auto following = store->follow(start, [&](const Result<std::vector<StoreChange>>& changes) {
    if (!changes) error = changes.error();
  });
  ASSERT_TRUE(loop.run_until([&] { return error.has_value(); }));
  EXPECT_EQ(error->code, ErrorCode::not_found) << error->message;
}

TEST_P(StoreTest, MayBeDroppedInTheMiddleOfEverything) {
  lead();
  int answers = 0;
  for (int i = 0; i < 10; ++i) {
    store->commit(put("a", std::to_string(i)), [&](const auto&) {
      if (++answers == 3) {
        candidate->subscription.reset();
        store.reset();
      }
    });
  }
  ASSERT_TRUE(loop.run_until([&] { return answers == 3; }));
  loop.io.restart();
  loop.io.poll();
  EXPECT_EQ(answers, 3) << "nobody is told anything by a store that is gone";
}

// A model that is a map, and the same random calls to both.
class StoreModel {
 public:
  explicit StoreModel(std::uint64_t seed) : random_(seed) {}

  StoreTransaction make() {
    StoreTransaction transaction;
    std::set<std::string> used;
    for (std::uint64_t i = random_.below(4); i > 0; --i) {
      const std::string key = any_key();
      const bool is_wrong = random_.chance(0.15);
      transaction.conditions.push_back({key, is_wrong ? random_.below(20) : changed_at(key)});
    }
    for (std::uint64_t i = random_.below(5); i > 0; --i) {
      const std::string key = any_key();
      if (!used.insert(key).second) continue;
      std::optional<std::string> value;
      if (random_.chance(0.7))
        value = std::string(random_.below(30), 'v') + std::to_string(++values_);
      transaction.writes.push_back({key, value});
    }
    return transaction;
  }
  bool holds(const StoreTransaction& transaction) const {
    return std::all_of(transaction.conditions.begin(), transaction.conditions.end(),
                       [this](const auto& one) { return changed_at(one.key) == one.changed_at; });
  }
  void apply(const StoreTransaction& transaction, StoreRevision revision) {
    for (const auto& write : transaction.writes) {
      if (write.value) entries_[write.key] = {write.key, *write.value, revision};
      if (!write.value) entries_.erase(write.key);
    }
  }
  std::vector<ports::StoreEntry> below(const std::string& prefix) const {
    std::vector<ports::StoreEntry> result;
    for (const auto& [key, entry] : entries_) {
      if (key.starts_with(prefix)) result.push_back(entry);
    }
    return result;
  }
  std::string any_key() { return std::string(1 + random_.below(2), "ab\xFF"[random_.below(3)]); }
  Random& random() { return random_; }

 private:
  StoreRevision changed_at(const std::string& key) const {
    const auto found = entries_.find(key);
    return found == entries_.end() ? 0 : found->second.changed_at;
  }

  Random random_;
  std::map<std::string, ports::StoreEntry> entries_;
  int values_ = 0;
};

TEST_P(StoreTest, BehavesLikeAMap) {
  lead();
  for (const auto seed : support::seeds(4)) {
    FDBPACK_TRACE_SEED(seed);
    StoreTransaction clear;
    const auto before = loop.load(*store);
    ASSERT_TRUE(before);
    for (const auto& entry : before->entries)
      clear.writes.push_back({entry.key, std::nullopt});
    const auto start = committed(clear);
    StoreModel model(seed);
    std::map<std::string, std::string> followed;
    StoreRevision followed_to = start;
    auto following = store->follow(start, [&](const Result<std::vector<StoreChange>>& changes) {
      ASSERT_TRUE(changes) << changes.error().message;
      ASSERT_FALSE(changes->empty());
      for (const auto& change : *changes) {
        ASSERT_GT(change.changed_at, followed_to);
        if (change.value) followed[change.key] = *change.value;
        if (!change.value) followed.erase(change.key);
      }
      followed_to = changes->front().changed_at;
    });
    StoreRevision last = start;
    for (int step = 0; step < 40; ++step) {
      const auto transaction = model.make();
      const auto result = loop.commit(*store, transaction);
      ASSERT_EQ(result.has_value(), model.holds(transaction)) << "step " << step;
      if (result) model.apply(transaction, *result);
      if (result) last = *result;
      if (step % 8 != 7) continue;
      const std::string prefix = model.random().chance(0.5) ? "" : model.any_key();
      const auto snapshot = loop.load(*store, prefix);
      ASSERT_TRUE(snapshot);
      ASSERT_EQ(snapshot->entries, model.below(prefix)) << "step " << step;
      ASSERT_EQ(snapshot->revision, last);
    }
    ASSERT_TRUE(loop.run_until([&] { return followed_to == last; }));
    std::map<std::string, std::string> expected;
    for (const auto& entry : model.below(""))
      expected[entry.key] = entry.value;
    EXPECT_EQ(followed, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreTest, testing::Values(Kind::memory, Kind::sqlite, Kind::etcd),
                         name_of);

}  // namespace
}  // namespace fdbpack::test
