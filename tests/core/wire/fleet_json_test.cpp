// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/wire/fleet_json.hpp"

#include "fdbpack/place/generate.hpp"
#include "fdbpack/place/inventory.hpp"
#include "fdbpack/wire/place_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fdbpack::wire {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kFleet = R"({
  "hosts": [{"id": "db-1", "labels": {"az": "az-1"}, "cpu": 16, "memoryMiB": 65536,
             "storage": [{"sunit": ["file", "nvme", []], "free": 900000, "total": 1000000}]},
            {"id": "db-2", "cpu": 0.5, "memoryMiB": 1024, "storage": [], "draining": true,
             "portSlots": 4}],
  "clusters": [{
    "spec": {"name": "sample", "version": "7.1.61",
             "processes": {"storage": {
                 "count": 2, "serversPerDisk": 2, "diskMiB": 1000,
                 "storageUnit": {"type": "file", "key": "nvme"},
                 "resources": {"cpu": 4, "memoryMiB": 100},
                 "extra": [{"name": "b", "count": 1, "hosts": {"az": "az-2"}}]}},
             "distribution": {"enabled": true, "desiredFaultDomains": 2}},
    "exactCounts": [{"label": "az", "counts": {"az-1": 2}}],
    "processGroups": {
      "storage-1": {"processClass": "storage", "host": "db-1", "storageUnit": ["file", "nvme", []],
                    "faultDomain": "storage-0", "portSlot": 2, "removalTimestamp": null,
                    "addresses": ["10.0.0.7"], "processGroupConditions": []},
      "storage-2": {"processClass": "storage", "host": "db-1", "reserved": true,
                    "storageUnit": ["file", "nvme", []]}}}]})";

TEST(FleetJson, ReadsHostsSpecsAndGroups) {
  const Result<place::Fleet> fleet = read_fleet(kFleet);
  ASSERT_TRUE(fleet.has_value()) << fleet.error().message;
  EXPECT_EQ(fleet->hosts[1].cpu_milli, 500);
  EXPECT_TRUE(fleet->hosts[1].is_draining);
  const place::ClassDemand& storage = fleet->clusters[0].classes[0];
  EXPECT_EQ(storage.sets[1].name, "b");
  EXPECT_EQ(storage.sets[1].shape, storage.sets[0].shape);  // inherited
  EXPECT_EQ(storage.sets[0].exact->counts.at("az-1"), 2);
  const place::Group& running = fleet->groups[0];
  EXPECT_EQ(running.cpu_milli, 4000);  // from its set
  EXPECT_EQ(running.servers, 2);
  EXPECT_EQ(running.disks[0].used_mib, 1000);
  EXPECT_EQ(fleet->groups[1].disks[0].used_mib, 0);
  EXPECT_TRUE(fleet->groups[1].is_reserved);
}

TEST(FleetJson, AGroupMayHaveSeveralDisks) {
  std::string text = kFleet;
  const std::string one = R"("reserved": true,
                    "storageUnit": ["file", "nvme", []])";
  const std::size_t where = text.find(one);
  ASSERT_NE(where, std::string::npos);
  text.replace(where, one.size(),
               R"("disks": [{"storageUnit": ["file", "nvme", []], "sizeMiB": 300, "usedMiB": 20},
                            {"storageUnit": ["file", "log", []], "sizeMiB": 40}])");
  const Result<place::Fleet> fleet = read_fleet(text);
  ASSERT_TRUE(fleet.has_value()) << fleet.error().message;
  ASSERT_EQ(fleet->groups[1].disks.size(), 2u);
  EXPECT_EQ(fleet->groups[1].disks[0].used_mib, 20);
  EXPECT_EQ(fleet->groups[1].disks[1].used_mib, 40);  // running: filled
  const Result<place::Fleet> again = read_fleet(write_fleet(*fleet));
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(again->groups, fleet->groups);
  text.replace(text.find(R"("disks": [)"), 10,
               R"("storageUnit": ["file", "nvme", []], "disks": [)");
  EXPECT_FALSE(read_fleet(text).has_value());
}

TEST(FleetJson, WhatWasWrittenReadsTheSame) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    place::GenerateOptions options;
    options.hosts = 6;
    options.clusters = 2;
    options.domains = static_cast<int>(seed % 4);
    options.seed = seed;
    place::Fleet fleet = *place::generate_fleet(options);
    for (place::ClusterDemand& cluster : fleet.clusters) {
      cluster.redundancy_mode = "single";
      place::SetDemand extra;
      extra.name = "extra";
      extra.count = 1;
      extra.hosts["az"] = "az-1";
      cluster.classes[0].sets.push_back(extra);
    }
    fleet.groups[0].is_removing = true;
    fleet.groups[1].is_reserved = true;
    fleet.hosts[0].is_unreachable = true;
    const Result<place::Fleet> again = read_fleet(write_fleet(fleet));
    ASSERT_TRUE(again.has_value()) << again.error().message;
    const auto one = place::Inventory::build(fleet);
    const auto two = place::Inventory::build(*again);
    ASSERT_TRUE(one.has_value() && two.has_value());
    EXPECT_EQ(one->fleet(), two->fleet());
  }
}

TEST(FleetJson, EverythingThatIsWrongIsToldWithItsPath) {
  const auto message = [](std::string json) { return read_fleet(json).error().message; };
  EXPECT_THAT(message("{}"), HasSubstr("$.hosts"));
  EXPECT_THAT(message(R"({"hosts": [{"id": "a", "cpu": -1, "memoryMiB": 1}], "clusters": []})"),
              HasSubstr("$.hosts[0].cpu"));
  EXPECT_THAT(message(R"({"hosts": [{"id": "a", "cpu": NaN, "memoryMiB": 1}], "clusters": []})"),
              Not(""));
  EXPECT_THAT(message(R"({"hosts": [{"id": "a", "cpu": 1e999, "memoryMiB": 1}], "clusters": []})"),
              Not(""));
  EXPECT_THAT(message(R"({"hosts": [], "clusters": [{"spec": {"name": "x"}}]})"),
              HasSubstr("$.clusters[0].spec."));
  EXPECT_THAT(message(R"({"hosts": [], "clusters": [], "hostz": 1})"), HasSubstr("$.hostz"));
}

TEST(FleetJson, ASetHasItsExactCountsOnce) {
  std::string json = kFleet;
  const std::string once = R"({"label": "az", "counts": {"az-1": 2}})";
  json.replace(json.find(once), once.size(), once + ", " + once);
  const auto fleet = read_fleet(json);
  ASSERT_FALSE(fleet.has_value());
  EXPECT_THAT(fleet.error().message, HasSubstr("$.clusters[0].exactCounts[1]"));
  EXPECT_THAT(fleet.error().message, HasSubstr("storage set default has its counts already"));
}

TEST(AffinityJson, RequiredTermCarriesNoWeight) {
  const place::PodPlacement pod{"example-cluster",        "storage", "storage-0",
                                "kubernetes.io/hostname", true,      true};
  EXPECT_EQ(print_json(to_json(pod), JsonLayout::indented), R"({
  "labels": {
    "foundationdb.org/distribution-key": "storage-0",
    "foundationdb.org/fdb-cluster-name": "example-cluster",
    "foundationdb.org/fdb-process-class": "storage"
  },
  "env": [
    {
      "name": "FDB_ZONE_ID",
      "value": "storage-0"
    }
  ],
  "affinity": {
    "podAffinity": {
      "preferredDuringSchedulingIgnoredDuringExecution": [
        {
          "weight": 1,
          "podAffinityTerm": {
            "labelSelector": {
              "matchLabels": {
                "foundationdb.org/distribution-key": "storage-0",
                "foundationdb.org/fdb-cluster-name": "example-cluster"
              }
            },
            "topologyKey": "kubernetes.io/hostname"
          }
        }
      ]
    },
    "podAntiAffinity": {
      "requiredDuringSchedulingIgnoredDuringExecution": [
        {
          "labelSelector": {
            "matchExpressions": [
              {
                "key": "foundationdb.org/distribution-key",
                "operator": "Exists"
              },
              {
                "key": "foundationdb.org/distribution-key",
                "operator": "NotIn",
                "values": [
                  "storage-0"
                ]
              },
              {
                "key": "foundationdb.org/fdb-cluster-name",
                "operator": "In",
                "values": [
                  "example-cluster"
                ]
              },
              {
                "key": "foundationdb.org/fdb-process-class",
                "operator": "In",
                "values": [
                  "storage"
                ]
              }
            ]
          },
          "topologyKey": "kubernetes.io/hostname"
        }
      ]
    }
  }
}
)");
}

TEST(AffinityJson, PreferredSeparationHasTheFullWeight) {
  place::PodPlacement pod{"example-cluster",        "storage", "storage-0",
                          "kubernetes.io/hostname", true,      false};
  EXPECT_THAT(print_json(to_json(pod), JsonLayout::compact),
              HasSubstr(R"("podAntiAffinity":{"preferredDuringScheduling)"
                        R"(IgnoredDuringExecution":[{"weight":100,)"));
  // Without logical domains there is no key, and pods of a class only prefer to keep apart.
  pod.has_domains = false;
  EXPECT_THAT(print_json(to_json(pod), JsonLayout::compact), Not(HasSubstr("distribution-key")));
}

}  // namespace
}  // namespace fdbpack::wire
