// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/wire/spec_json.hpp"

#include "tests/support/places.hpp"
#include "tests/support/random_model.hpp"
#include "tests/support/seeds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace fdbpack::wire {
namespace {

using model::ClusterSpec;
using model::ProcessClass;
using testing::HasSubstr;

// A valid spec with `fields` added, each of them behind a comma.
std::string spec_with(const std::string& fields) {
  return R"({"name":"c","version":"7.1.61","processes":{"log":{"count":4}})" + fields + "}";
}

std::string spec_with_processes(const std::string& processes) {
  return R"({"name":"c","version":"7.1.61","processes":)" + processes + "}";
}

// What is wrong with it, or "good".
std::string told(const std::string& json) {
  const auto spec = check_cluster_spec(json);
  return spec ? "good" : to_string(spec.error());
}

ClusterSpec read(const std::string& json) {
  const auto spec = read_cluster_spec(json);
  EXPECT_TRUE(spec) << spec.error().message;
  return spec.value_or(ClusterSpec());
}

TEST(SpecJson, TheSampleIsRead) {
  std::ifstream file(test::source_file("examples/sample-cluster.json"));
  ASSERT_TRUE(file);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const ClusterSpec spec = read(text);
  EXPECT_EQ(spec.name, "sample-cluster");
  EXPECT_EQ(to_string(spec.version), "7.1.61");
  EXPECT_EQ(spec.processes.size(), 3u);
  EXPECT_EQ(spec.distribution.desired_fault_domains, 3u);
  EXPECT_EQ(spec.automation, model::Automation());
  const auto* extra = spec.find_set(ProcessClass::storage, "az-2");
  ASSERT_NE(extra, nullptr);
  EXPECT_EQ(extra->count, 2u);
  EXPECT_EQ(extra->servers_per_disk, 4u);
  EXPECT_EQ(extra->disk_mib, 131072u);
  EXPECT_EQ(extra->storage_unit, (model::StorageUnitId{"file", "nvme", {}}));
  EXPECT_EQ(extra->resources.cpu_milli, 4000u);
  EXPECT_EQ(extra->hosts, (model::Labels{{"az", "az-2"}}));
  EXPECT_EQ(spec.find_set(ProcessClass::storage, "az-3"), nullptr);
  EXPECT_EQ(spec.find_set(ProcessClass::master, "default"), nullptr);
}

TEST(SpecJson, FieldsNotGivenHaveDefaults) {
  const ClusterSpec spec = read(spec_with(""));
  EXPECT_TRUE(spec.listen_address);
  EXPECT_FALSE(spec.dns_in_cluster_file);
  EXPECT_FALSE(spec.tls.enabled);
  EXPECT_FALSE(spec.distribution.enabled);
  EXPECT_EQ(spec.database, model::Database());
  EXPECT_EQ(spec.effective_log_group(), "c");
  EXPECT_EQ(spec.find_set(ProcessClass::log, "default")->servers_per_disk, 1u);
}

TEST(SpecJson, ExtraSetsInheritWhatTheyDoNotGive) {
  const ClusterSpec spec = read(spec_with_processes(R"({"storage":{
      "count":3,"serversPerDisk":2,"diskMiB":10,"storageUnit":{"type":"file","key":"nvme"},
      "resources":{"cpu":0.5,"memoryMiB":100},"hosts":{"rack":"1"},
      "extra":[{"name":"same"},
               {"name":"own","diskMiB":null,"storageUnit":{"type":"lvm"},"resources":{"cpu":8},
                "hosts":{"az":"2"}},
               {"name":"none","storageUnit":null,"resources":null,"hosts":{}}]}})"));
  model::ProcessSet same = *spec.find_set(ProcessClass::storage, "default");
  same.name = "same";
  EXPECT_EQ(*spec.find_set(ProcessClass::storage, "same"), same);
  const auto* own = spec.find_set(ProcessClass::storage, "own");
  EXPECT_EQ(own->count, 3u);
  EXPECT_EQ(own->disk_mib, std::nullopt);
  EXPECT_EQ(own->storage_unit, (model::StorageUnitId{"lvm", "", {}}));
  EXPECT_EQ(own->resources, (model::Resources{8000, 100}));
  EXPECT_EQ(own->hosts, (model::Labels{{"az", "2"}}));
  const auto* none = spec.find_set(ProcessClass::storage, "none");
  EXPECT_EQ(none->storage_unit, std::nullopt);
  EXPECT_EQ(none->resources, model::Resources());
  EXPECT_TRUE(none->hosts.empty());
  EXPECT_EQ(none->disk_mib, 10u);
}

TEST(SpecJson, AClassesParametersReplaceTheGeneralOnes) {
  const ClusterSpec spec = read(spec_with(
      R"(,"customParameters":{"general":["knob_a = x=y"],"log":["knob_b=1"],"test":[]})"));
  using Parameters = std::vector<model::CustomParameter>;
  EXPECT_EQ(spec.effective_custom_parameters(ProcessClass::storage),
            (Parameters{{"knob_a", "x=y"}}));
  EXPECT_EQ(spec.effective_custom_parameters(ProcessClass::log), (Parameters{{"knob_b", "1"}}));
  EXPECT_TRUE(spec.effective_custom_parameters(ProcessClass::test).empty());
}

TEST(SpecJson, TheZoneVariableIsKeptWithoutItsDollar) {
  EXPECT_EQ(read(spec_with(R"(,"zoneVariable":"$RACK")")).zone_variable, "RACK");
  EXPECT_EQ(read(spec_with(R"(,"zoneVariable":"RACK")")).zone_variable, "RACK");
  EXPECT_EQ(read(spec_with(R"(,"zoneVariable":"")")).zone_variable, "");
}

TEST(SpecJson, ProcessesAreCheckedStrictly) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({})", "$.processes: a cluster needs processes; add at least one class"},
      {R"({"log":{}})", "$.processes.log.count: this field is missing; add it"},
      {R"({"log":{"count":0}})",
       "$.processes.log.count: this must be a whole number from 1 to 100000, but it is 0"},
      {R"({"log":{"count":-1}})",
       "$.processes.log.count: this must be a whole number from 1 to 100000, but it is -1"},
      {R"({"log":{"count":"3"}})",
       "$.processes.log.count: this must be a whole number from 1 to 100000, but it is a string"},
      {R"({"log":{"count":1,"extra":[{"name":"a"},{"name":"b","count":0}]}})",
       "$.processes.log.extra[1].count: this must be a whole number from 1 to 100000, but it is 0"},
      {R"({"storge":{"count":1}})",
       "$.processes.storge: there is no such process class; did you mean \"storage\"?"},
      {R"({"log":{"count":1,"cuont":2}})",
       "$.processes.log.cuont: there is no such field; did you mean \"count\"?"},
      {R"({"log":{"count":1,"extra":[{"name":"a"},{"name":"a"}]}})",
       "$.processes.log.extra[1].name: there is a set \"a\" already; give each set of a class its "
       "own name"},
      {R"({"log":{"count":1,"extra":[{"name":"default"}]}})",
       "$.processes.log.extra[0].name: \"default\" is the class's own set; give this one another "
       "name or change the fields above"},
      {R"({"log":{"count":1,"extra":[{"count":1}]}})",
       "$.processes.log.extra[0].name: this field is missing; add it"},
      {R"({"log":{"count":1,"name":"x"}})", "$.processes.log.name: there is no such field"},
      {R"({"log":{"count":1,"extra":[{"name":"A_b"}]}})",
       "$.processes.log.extra[0].name: this is not a usable name of a set"},
      {R"({"stateless":{"count":1,"serversPerDisk":1}})",
       "$.processes.stateless.serversPerDisk: processes of class stateless do not share a disk"},
      {R"({"log":{"count":1,"serversPerDisk":0}})", "$.processes.log.serversPerDisk: this must be"},
      {R"({"log":{"count":1,"serversPerDisk":40000}})", "a whole number from 1 to 30518"},
      {R"({"log":{"count":1,"diskMiB":0}})", "$.processes.log.diskMiB: this must be"},
      {R"({"log":{"count":1,"storageUnit":{}}})",
       "$.processes.log.storageUnit.type: this field is"},
      {R"({"log":{"count":1,"storageUnit":{"type":"a b"}}})",
       "$.processes.log.storageUnit.type: this is not a usable name"},
      {R"({"log":{"count":1,"resources":{"cpu":0.0001}}})", "$.processes.log.resources.cpu: this"},
      {R"({"log":{"count":1,"resources":{"cpu":1.23456}}})", "counted in thousandths"},
      {R"({"log":{"count":1,"hosts":{"a b":"c"}}})",
       "$.processes.log.hosts[\"a b\"]: the key is no host label"},
      {R"({"log":{"count":1,"hosts":{"a":1}}})", "$.processes.log.hosts.a: this must be a string"},
      {R"({"log":{"count":1},"log":{"count":2}})", "$.processes.log: this field is given twice"},
      {R"([])", "$.processes: this must be an object, but it is an array"},
  };
  for (const auto& [processes, expected] : cases) {
    EXPECT_THAT(told(spec_with_processes(processes)), HasSubstr(expected)) << processes;
  }
}

TEST(SpecJson, OtherFieldsAreCheckedStrictly) {
  const std::pair<const char*, const char*> cases[] = {
      {R"(,"nmae":1)", "$.nmae: there is no such field; did you mean \"name\"?"},
      {R"(,"name":"d")", "$.name: this field is given twice"},
      {R"(,"database":{"redundancyMode":"quadruple"})",
       "$.database.redundancyMode: \"quadruple\" is not a redundancy mode"},
      {R"(,"database":{"storageEngine":"ssd2"})", "did you mean \"ssd-2\"?"},
      {R"(,"database":{"storageEngine":"ssd-sharded-rocksdb"})",
       "storage engine ssd-sharded-rocksdb is not supported on version 7.1.61; it needs 7.2.0"},
      {R"(,"tls":{"enabled":"yes"})", "$.tls.enabled: this must be true or false"},
      {R"(,"tls":{"verifyPeers":"a\nb"})", "$.tls.verifyPeers: this must be one line"},
      {R"(,"distribution":{"desiredFaultDomains":1})", "double needs at least 2 fault domains"},
      {R"(,"distribution":{"physicalDomain":""})", "$.distribution.physicalDomain: this must be"},
      {R"(,"dataCenter":" x")", "$.dataCenter: this must be one line of at most 255 bytes"},
      {R"(,"zoneVariable":"$A-B")", "$.zoneVariable: this must be the name of an environment"},
      {R"(,"listenAddress":null)", "$.listenAddress: this must be true or false, but it is null"},
      {R"(,"processGroupsToRemove":["storage"])",
       "$.processGroupsToRemove[0]: could not parse process group ID storage"},
      {R"(,"processGroupsToRemove":["log-1","log-1"])", "log-1 is listed twice; remove one"},
      {R"(,"automation":{"replaceFaild":true})", "did you mean \"replaceFailed\"?"},
      {R"(,"automation":{"failureDetectionSeconds":0})",
       "$.automation.failureDetectionSeconds: this must be a whole number from 1"},
      {R"(,"customParameters":{"general":["knob_x"]})",
       "$.customParameters.general[0]: \"knob_x\" has no =; write name = value"},
      {R"(,"customParameters":{"log":["a=1",2,"A=2"]})",
       "$.customParameters.log[2]: \"A\" is set twice"},
      {R"(,"customParameters":{"log":["datadir=/x"]})",
       "$.customParameters.log[0]: \"datadir\" is"},
      {R"(,"customParameters":{"generl":[]})", "did you mean \"general\"?"},
      {R"(,"customParameters":[])", "$.customParameters: this must be an object"},
  };
  for (const auto& [fields, expected] : cases) {
    EXPECT_THAT(told(spec_with(fields)), HasSubstr(expected)) << fields;
  }
}

TEST(SpecJson, NameAndVersionAreChecked) {
  const auto spec = [](const std::string& name, const std::string& version) {
    return told(R"({"name":")" + name + R"(","version":")" + version +
                R"(","processes":{"log":{"count":1}}})");
  };
  EXPECT_EQ(spec("c", "7.3.0-rc1"), "good");
  EXPECT_THAT(spec("", "7.3.0"), HasSubstr("$.name: this is not a usable name of a cluster"));
  EXPECT_THAT(spec("A", "7.3.0"), HasSubstr("$.name: "));
  EXPECT_THAT(spec(std::string(64, 'a'), "7.3.0"), HasSubstr("$.name: "));
  EXPECT_THAT(spec("c", "7.3"), HasSubstr("$.version: this is not a version of FoundationDB"));
  EXPECT_THAT(spec("c", "07.3.0"), HasSubstr("$.version: this is not a version"));
  EXPECT_THAT(spec("c", "x7.3.0"), HasSubstr("$.version: this is not a version"));
  EXPECT_EQ(spec("c", "7.0.0"), "$.version: version 7.0.0 is not supported; use 7.1.0 or newer");
}

TEST(SpecJson, EverythingWrongIsToldAtOnce) {
  const auto spec = check_cluster_spec(
      R"({"name":"A","name":"B","processes":{"log":{"count":0},"x":{}},"tls":[],"zzzzzzzzz":1})");
  ASSERT_FALSE(spec);
  std::vector<std::string> paths;
  for (const auto& violation : spec.error())
    paths.push_back(violation.path);
  EXPECT_THAT(paths, testing::ElementsAre("$.name", "$.name", "$.version", "$.tls",
                                          "$.processes.log.count", "$.processes.x", "$.zzzzzzzzz"));
  EXPECT_EQ(told("[]"), "$: this must be an object, but it is an array");
}

TEST(SpecJson, WhatIsWrittenIsReadBack) {
  for (const auto seed : support::seeds(400)) {
    FDBPACK_TRACE_SEED(seed);
    Random random(seed);
    const ClusterSpec spec = support::random_spec(random);
    const std::string text = write_cluster_spec(spec);
    const auto again = read_cluster_spec(text);
    ASSERT_TRUE(again) << again.error().message << "\n" << text;
    ASSERT_EQ(*again, spec) << text;
    ASSERT_EQ(write_cluster_spec(*again), text);
  }
}

// Any byte of a valid document may be damaged on its way here.
TEST(SpecJson, DamagedTextIsReadOrRefusedButNeverHarms) {
  for (const auto seed : support::seeds(400)) {
    FDBPACK_TRACE_SEED(seed);
    Random random(seed);
    std::string text = write_cluster_spec(support::random_spec(random));
    for (std::uint64_t i = 1 + random.below(4); i > 0; --i) {
      text[random.below(text.size())] = static_cast<char>(random.below(256));
    }
    const auto spec = check_cluster_spec(text);
    if (spec) {
      ASSERT_EQ(read(write_cluster_spec(*spec)), *spec) << text;
    } else {
      ASSERT_FALSE(spec.error().empty());
      for (const auto& violation : spec.error()) {
        ASSERT_TRUE(violation.path.starts_with("$")) << violation.path;
        ASSERT_FALSE(violation.message.empty());
      }
    }
  }
}

}  // namespace
}  // namespace fdbpack::wire
