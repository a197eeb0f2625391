// SPDX-License-Identifier: Apache-2.0
//
// Versions, classes, IDs and ports.
#include "fdbpack/model/ids.hpp"
#include "fdbpack/model/ports.hpp"
#include "fdbpack/model/version.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace fdbpack::model {
namespace {

TEST(Version, IsFoundAnywhereInAText) {
  EXPECT_EQ(find_version("test-6.2.11-test").value(), (Version{6, 2, 11, 0}));
  EXPECT_EQ(find_version("1.2 x 7.1.0-rc39").value(), (Version{7, 1, 0, 39}));
  EXPECT_EQ(find_version("1.2.3.4").value(), (Version{1, 2, 3, 0}));
  EXPECT_EQ(find_version("7.1.0-rc").value(), (Version{7, 1, 0, 0}));
  EXPECT_FALSE(find_version("6.2"));
}

TEST(Version, AsAWholeTextHasNothingAroundIt) {
  EXPECT_EQ(parse_version("7.1.61").value(), (Version{7, 1, 61, 0}));
  for (const auto* text :
       {"", "7", "7.1", "7.1.", "v7.1.0", "7.1.0 ", "7.1.0-rc", "7.1.0-rc1x", "7.1.99999999999"}) {
    EXPECT_FALSE(parse_version(text)) << text;
  }
}

TEST(Version, AReleaseIsNewerThanItsCandidates) {
  const Version candidate{7, 1, 0, 2};
  const Version release{7, 1, 0, 0};
  EXPECT_TRUE(release.is_at_least(candidate));
  EXPECT_FALSE(candidate.is_at_least(release));
  EXPECT_LT((Version{7, 0, 99, 0}), candidate);
}

TEST(ProcessClass, EveryNameIsReadBack) {
  std::set<std::string_view> names;
  for (const auto process_class : all_process_classes()) {
    const auto name = to_string(process_class);
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_EQ(parse_process_class(name).value(), process_class);
  }
  EXPECT_EQ(names.size(), 23u);
  EXPECT_FALSE(parse_process_class("Storage"));
  EXPECT_FALSE(parse_process_class(""));
}

TEST(ProcessClass, OnlyThreeShareDisks) {
  std::set<std::string> dense;
  for (const auto process_class : all_process_classes()) {
    if (can_have_density(process_class)) dense.emplace(to_string(process_class));
  }
  EXPECT_EQ(dense, (std::set<std::string>{"log", "storage", "transaction"}));
  EXPECT_TRUE(is_stateful(ProcessClass::coordinator));
  EXPECT_FALSE(is_stateful(ProcessClass::stateless));
}

TEST(ProcessGroupId, HasPrefixClassAndNumber) {
  const auto id = parse_process_group_id("dc1-b-cluster_controller-12");
  ASSERT_TRUE(id);
  EXPECT_EQ(id->prefix, "dc1-b");
  EXPECT_EQ(id->process_class, ProcessClass::cluster_controller);
  EXPECT_EQ(id->number, 12u);
  EXPECT_EQ(to_string(*id), "dc1-b-cluster_controller-12");
}

TEST(ProcessGroupId, RefusesWhatIsNone) {
  for (const auto* text : {"", "6", "storage", "storage-", "storage-bad", "storage-01",
                           "-storage-1", "storge-1", "a b-storage-1", "storage-4294967296"}) {
    EXPECT_FALSE(parse_process_group_id(text)) << text;
  }
  EXPECT_FALSE(parse_process_group_id(std::string(60, 'a') + "-storage-1"));
}

TEST(ProcessId, HasAnIndexOnlyAboveDensityOne) {
  EXPECT_EQ(process_id("storage-4", 1, 1), "storage-4");
  EXPECT_EQ(process_id("storage-4", 1, 2), "storage-4-1");
  EXPECT_EQ(process_id("storage-4", 2, 2), "storage-4-2");
}

TEST(Ports, FollowTheFormula) {
  EXPECT_EQ(port_of("p", 0, 1, Transport::tls).value(), 4500);
  EXPECT_EQ(port_of("p", 0, 1, Transport::plain).value(), 4501);
  EXPECT_EQ(port_of("p", 3, 2, Transport::tls).value(), 4508);
  EXPECT_EQ(port_of("p", 0, kPortPairMax, Transport::plain).value(), 65535);
}

TEST(Ports, BeyondTheLastAreRefusedWithTheProcess) {
  const auto port = port_of("storage-4-9", kPortPairMax, 1, Transport::plain);
  ASSERT_FALSE(port);
  EXPECT_EQ(port.error().message,
            "process storage-4-9 would need port 65537, but the highest is 65535; lower its port "
            "slot or the servers per disk");
  EXPECT_FALSE(port_of("p", 4294967295u, 4294967295u, Transport::tls));
}

TEST(Ports, OfOneGroupAreAllDifferent) {
  std::set<std::uint16_t> ports;
  for (std::uint32_t index = 1; index <= 64; ++index) {
    for (const auto transport : {Transport::tls, Transport::plain}) {
      EXPECT_TRUE(ports.insert(port_of("p", 7, index, transport).value()).second);
    }
  }
}

}  // namespace
}  // namespace fdbpack::model
