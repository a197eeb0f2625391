// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/cluster/ledger.hpp"

#include "fdbpack/base/random.hpp"
#include "tests/support/seeds.hpp"

#include <gtest/gtest.h>

#include <set>

namespace fdbpack::cluster {
namespace {

const std::string kBy = "unix uid 0";

WallTime at(int second) {
  return WallTime(std::chrono::seconds(second));
}

model::ClusterSpec spec(const std::string& name) {
  model::ClusterSpec result;
  result.name = name;
  result.version = {7, 1, 61, 0};
  return result;
}

ProcessGroup storage(const std::string& host, std::uint32_t slot, std::uint32_t servers = 1) {
  ProcessGroup group;
  group.id.process_class = model::ProcessClass::storage;
  group.host = host;
  group.port_slot = slot;
  group.servers_per_disk = servers;
  return group;
}

GroupKey key(const std::string& cluster, std::uint32_t number) {
  return {cluster, {"", model::ProcessClass::storage, number}};
}

class LedgerTest : public ::testing::Test {
 protected:
  // Decides and takes at once, as if the store had answered.
  Status run(const Command& command) {
    FDBPACK_TRY(auto change, ledger_.decide(command, at(++second_), kBy));
    for (const Event& event : change.events)
      said_.push_back(event);
    ledger_.take(std::move(change));
    return {};
  }
  // Whether a command has nothing to do.
  bool is_done(const Command& command) {
    const auto change = ledger_.decide(command, at(0), kBy);
    return change.has_value() && change->is_empty();
  }
  std::string refusal(const Command& command) {
    const auto change = ledger_.decide(command, at(0), kBy);
    return change ? "" : change.error().message;
  }
  void start_with_one_group() {
    ASSERT_TRUE(run(PutSpec{spec("c"), 0}));
    ASSERT_TRUE(run(AddGroups{"c", {storage("h1", 0)}, "the spec asks for 1"}));
  }
  std::uint64_t assignment(const std::string& host) { return ledger_.hosts().at(host).assignment; }

  Ledger ledger_;
  std::vector<Event> said_;
  int second_ = 0;
};

TEST_F(LedgerTest, SpecIsComparedAndSet) {
  ASSERT_TRUE(run(PutSpec{spec("c"), 0}));
  EXPECT_EQ(ledger_.clusters().at("c").generation, 1u);
  EXPECT_TRUE(is_done(PutSpec{spec("c"), 1})) << "the same again is no change";
  auto other = spec("c");
  other.log_group = "x";
  EXPECT_EQ(refusal(PutSpec{other, 0}),
            "the spec of c has generation 1, not 0; read it again and apply the change to that");
  ASSERT_TRUE(run(PutSpec{other, 1}));
  EXPECT_EQ(ledger_.clusters().at("c").generation, 2u);
  EXPECT_EQ(ledger_.clusters().at("c").changed_by, kBy);
}

TEST_F(LedgerTest, DecidingChangesNothingUntilItIsTaken) {
  const auto change = ledger_.decide(PutSpec{spec("c"), 0}, at(1), kBy);
  ASSERT_TRUE(change);
  EXPECT_TRUE(ledger_.clusters().empty());
}

TEST_F(LedgerTest, ClusterIsNotDeletedWhileItHasGroups) {
  start_with_one_group();
  EXPECT_EQ(refusal(DeleteCluster{"c"}),
            "cluster c has 1 process groups; remove them before deleting it");
}

TEST_F(LedgerTest, NumbersAreNeverGivenTwice) {
  start_with_one_group();
  ASSERT_TRUE(run(RemoveGroup{key("c", 1), DataPolicy::wipe, "asked"}));
  ASSERT_TRUE(run(MarkExcluded{key("c", 1)}));
  ASSERT_TRUE(run(ForgetGroup{key("c", 1)}));
  ASSERT_TRUE(run(AddGroups{"c", {storage("h1", 0), storage("h2", 0)}, "again"}));
  EXPECT_TRUE(ledger_.groups().contains(key("c", 2)));
  EXPECT_TRUE(ledger_.groups().contains(key("c", 3)));
}

TEST_F(LedgerTest, PortSlotsDoNotOverlapAcrossClusters) {
  start_with_one_group();
  ASSERT_TRUE(run(PutSpec{spec("d"), 0}));
  ASSERT_TRUE(run(AddGroups{"d", {storage("h1", 1, 2)}, "new"}));
  EXPECT_EQ(refusal(AddGroups{"c", {storage("h1", 2)}, "new"}),
            "port slot 2 of host h1 is storage-1's of cluster d");
  EXPECT_EQ(refusal(AddGroups{"c", {storage("h2", 0), storage("h2", 0)}, "new"}),
            "port slot 0 of host h2 is storage-2's of cluster c");
  EXPECT_EQ(refusal(AddGroups{"c", {storage("h1", 3)}, "new"}), "");
}

TEST_F(LedgerTest, DrainedHostGetsNothingNew) {
  start_with_one_group();
  ASSERT_TRUE(run(SetDrained{"h2", true, "new disks"}));
  EXPECT_EQ(refusal(AddGroups{"c", {storage("h2", 0)}, "new"}), "host h2 is being drained");
  EXPECT_TRUE(is_done(SetDrained{"h2", true, "again"}));
  ASSERT_TRUE(run(SetDrained{"h2", false, ""}));
  EXPECT_EQ(refusal(AddGroups{"c", {storage("h2", 0)}, "new"}), "");
}

TEST_F(LedgerTest, RemovalCanBeUndoneUntilExclusion) {
  start_with_one_group();
  EXPECT_EQ(refusal(MarkExcluded{key("c", 1)}), "storage-1 is not to be removed");
  ASSERT_TRUE(run(RemoveGroup{key("c", 1), DataPolicy::keep, "asked"}));
  const auto since = ledger_.groups().at(key("c", 1)).removal_at;
  ASSERT_TRUE(run(RemoveGroup{key("c", 1), DataPolicy::wipe, "asked again"}));
  EXPECT_EQ(ledger_.groups().at(key("c", 1)).removal_at, since) << "the clock goes on";
  ASSERT_TRUE(run(KeepGroup{key("c", 1)}));
  EXPECT_FALSE(ledger_.groups().at(key("c", 1)).is_leaving());
  EXPECT_EQ(ledger_.groups().at(key("c", 1)).data, DataPolicy::keep)
      << "nothing is wiped by mistake";
  ASSERT_TRUE(run(RemoveGroup{key("c", 1), DataPolicy::keep, "asked"}));
  EXPECT_EQ(refusal(ForgetGroup{key("c", 1)}), "storage-1 is not known to be fully excluded");
  ASSERT_TRUE(run(MarkExcluded{key("c", 1)}));
  EXPECT_EQ(refusal(KeepGroup{key("c", 1)}),
            "storage-1 is excluded and its data has moved away; it cannot be kept any more");
}

TEST_F(LedgerTest, AddressesAreReplacedOrAppended) {
  start_with_one_group();
  const auto addresses = [&] { return ledger_.groups().at(key("c", 1)).addresses; };
  using List = std::vector<std::string>;
  ASSERT_TRUE(run(SetAddresses{key("c", 1), {"10.0.0.1"}}));
  ASSERT_TRUE(run(SetAddresses{key("c", 1), {"10.0.0.2"}}));
  EXPECT_EQ(addresses(), List{"10.0.0.2"});
  EXPECT_TRUE(is_done(SetAddresses{key("c", 1), {}})) << "no address leaves them alone";
  ASSERT_TRUE(run(SetAddresses{key("c", 1), {"10.0.0.3"}, true}));
  EXPECT_EQ(addresses(), (List{"10.0.0.2", "10.0.0.3"})) << "while the database is down";
  ASSERT_TRUE(run(RemoveGroup{key("c", 1), DataPolicy::keep, "asked"}));
  ASSERT_TRUE(run(SetAddresses{key("c", 1), {"10.0.0.2"}}));
  EXPECT_EQ(addresses(), (List{"10.0.0.3", "10.0.0.2"})) << "the current one is the last";
}

TEST_F(LedgerTest, HostsAreGivenANewAssignmentOnlyWhenTheirsChanged) {
  start_with_one_group();
  EXPECT_EQ(assignment("h1"), 1u);
  ASSERT_TRUE(run(AddGroups{"c", {storage("h1", 1), storage("h1", 2), storage("h2", 0)}, "more"}));
  EXPECT_EQ(assignment("h1"), 2u) << "once, for both";
  EXPECT_EQ(assignment("h2"), 1u);
  ASSERT_TRUE(run(PutSpec{spec("other"), 0}));
  EXPECT_EQ(assignment("h1"), 2u);
  auto changed = spec("c");
  changed.log_group = "x";
  ASSERT_TRUE(run(PutSpec{changed, std::nullopt}));
  EXPECT_EQ(assignment("h1"), 3u);
  ASSERT_TRUE(run(SetConnectionString{"c", "c:1@10.0.0.1:4501"}));
  EXPECT_EQ(assignment("h2"), 3u);
}

TEST_F(LedgerTest, EventsAreNumberedAndSayWho) {
  start_with_one_group();
  ASSERT_EQ(said_.size(), 2u);
  EXPECT_EQ(said_[1].sequence, 2u);
  EXPECT_EQ(said_[1].by, kBy);
  EXPECT_EQ(said_[1].subject, "storage-1");
  EXPECT_EQ(said_[1].what, "was given to host h1: the spec asks for 1");
}

// ---- properties -------------------------------------------------------------------------------

Command random_command(Random& random) {
  const std::string cluster = random.below(2) == 0 ? "c" : "d";
  const std::string host = "h" + std::to_string(random.below(4));
  const GroupKey group = key(cluster, static_cast<std::uint32_t>(random.below(12)) + 1);
  switch (random.below(9)) {
    case 0: {
      auto changed = spec(cluster);
      changed.log_group = std::to_string(random.below(3));
      return PutSpec{changed, std::nullopt};
    }
    case 1:
      return DeleteCluster{cluster};
    case 2:
      return AddGroups{cluster,
                       {storage(host, static_cast<std::uint32_t>(random.below(6)),
                                static_cast<std::uint32_t>(random.below(3)) + 1)},
                       "because"};
    case 3:
      return RemoveGroup{group, DataPolicy::keep, "because"};
    case 4:
      return KeepGroup{group};
    case 5:
      return MarkExcluded{group};
    case 6:
      return ForgetGroup{group};
    case 7:
      return SetAddresses{group, {"10.0.0." + std::to_string(random.below(5))}};
    default:
      return SetDrained{host, random.below(2) == 0, "because"};
  }
}

void check_slots(const Ledger& ledger) {
  std::set<std::pair<std::string, std::uint32_t>> taken;
  for (const auto& [key, group] : ledger.groups()) {
    for (std::uint32_t i = 0; i < group.servers_per_disk; ++i)
      ASSERT_TRUE(taken.emplace(group.host, group.port_slot + i).second) << to_string(key.second);
  }
}

TEST(LedgerProperty, WhateverIsAskedForTheLedgerStaysWhole) {
  for (const auto seed : support::seeds(200)) {
    FDBPACK_TRACE_SEED(seed);
    Random random(seed);
    Ledger ledger;
    std::set<GroupKey> given;
    for (int i = 0; i < 200; ++i) {
      const Command command = random_command(random);
      auto change = ledger.decide(command, at(i), kBy);
      if (!change) continue;
      for (const auto& [key, group] : change->groups) {
        const bool is_new = group && !ledger.groups().contains(key);
        ASSERT_TRUE(!is_new || given.insert(key).second) << to_string(key.second) << " again";
      }
      // A cluster that was deleted begins anew: nothing remembers its groups.
      for (const auto& changed : change->clusters) {
        const std::string& name = changed.first;
        if (changed.second) continue;
        std::erase_if(given, [&name](const GroupKey& key) { return key.first == name; });
      }
      for (const auto& [host, record] : change->hosts) {
        const auto before = ledger.hosts().find(host);
        ASSERT_TRUE(before == ledger.hosts().end() ||
                    record->assignment >= before->second.assignment);
      }
      ledger.take(*std::move(change));
      const auto again = ledger.decide(command, at(i), kBy);
      if (again && !std::holds_alternative<AddGroups>(command)) {
        ASSERT_TRUE(again->is_empty()) << "a command that was carried out has nothing left to do";
      }
      check_slots(ledger);
    }
  }
}

}  // namespace
}  // namespace fdbpack::cluster
