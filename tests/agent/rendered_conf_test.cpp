// SPDX-License-Identifier: Apache-2.0
#include "agent/rendered_conf.hpp"

#include "fdbpack/conf/monitor_conf.hpp"
#include "tests/support/files.hpp"
#include "tests/support/places.hpp"

#include <gmock/gmock.h>

namespace fdbpack::agent {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr const char* kTwoGroups = R"({"binaryDirectory": "/opt/fdb", "user": "fdb",
 "processGroups": [
  {"id": "storage-1", "class": "storage", "density": 2, "address": "10.0.0.7", "machine": "db-7",
   "clusterFile": "/etc/fdb.cluster", "dataDirectory": "/d/s1", "zone": "storage-0"},
  {"id": "log-1", "class": "log", "portSlot": 2, "address": "10.0.0.7", "tls": true,
   "clusterFile": "/etc/fdb.cluster", "dataDirectory": "/d/l1",
   "customParameters": ["knob_a = 1"]}]})";

TEST(RenderedConf, HoldsEveryProcessOfEveryGroupUnderItsName) {
  const auto text = render_conf(kTwoGroups);
  ASSERT_TRUE(text) << text.error().message;
  const auto resolved = conf::resolve(conf::parse(*text).document);
  EXPECT_EQ(resolved.user, "fdb");
  ASSERT_EQ(resolved.processes.size(), 3u);
  EXPECT_EQ(resolved.processes[0].section, "fdbserver.log-1");
  EXPECT_THAT(resolved.processes[0].argv, Contains("--public_address=10.0.0.7:4504:tls"));
  EXPECT_THAT(resolved.processes[0].argv, Contains("--knob_a=1"));
  EXPECT_EQ(resolved.processes[2].section, "fdbserver.storage-1-2");
  EXPECT_EQ(resolved.processes[2].argv.front(), "/opt/fdb/fdbserver");
  EXPECT_THAT(resolved.processes[2].argv, Contains("--public_address=10.0.0.7:4503"));
  EXPECT_THAT(resolved.processes[2].argv, Contains("--datadir=/d/s1/2"));
  EXPECT_THAT(resolved.processes[2].argv, Contains("--locality_zoneid=storage-0"));
}

TEST(RenderedConf, WhatIsWrongIsNamedWithItsPath) {
  const auto text = render_conf(R"({"processGroups": [{"id": "a", "class": "storge"}], "x": 1})");
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message, HasSubstr("$.processGroups[0].address"));
  EXPECT_THAT(text.error().message, HasSubstr("$.processGroups[0].class"));
  EXPECT_THAT(text.error().message, HasSubstr("$.x"));
  EXPECT_FALSE(render_conf("{"));
}

std::string with(std::string config, const std::string& after, const std::string& more) {
  config.insert(config.find(after) + after.size(), more);
  return config;
}

TEST(RenderedConf, SettingsAreThoseOfEveryProcessOfTheGroup) {
  const auto text =
      render_conf(with(kTwoGroups, "\"zone\": \"storage-0\"",
                       R"(, "settings": {"stopGrace": "30", "limitNofile": "65536"})"));
  ASSERT_TRUE(text) << text.error().message;
  const auto resolved =
      conf::resolve(conf::parse(*text).document, {conf::Dialect::v7_4, "$PID", true});
  ASSERT_EQ(resolved.processes.size(), 3u);
  EXPECT_EQ(resolved.processes[0].settings, model::ProcessSettings{});
  for (const std::size_t i : {1u, 2u}) {
    EXPECT_EQ(resolved.processes[i].settings.stop_grace, std::chrono::seconds(30));
    EXPECT_EQ(resolved.processes[i].settings.limits.at(0).hard, 65536u);
  }
}

TEST(RenderedConf, WrongSettingsAreNamedWithTheirPath) {
  const auto text = render_conf(
      with(kTwoGroups, "\"zone\": \"storage-0\"",
           R"(, "settings": {"nice": "50", "colour": "red", "cwd": "/a\n[x.1]", "umask": 7})"));
  ASSERT_FALSE(text);
  for (const char* name : {"nice", "colour", "cwd", "umask"}) {
    EXPECT_THAT(text.error().message,
                HasSubstr(std::string("$.processGroups[0].settings.") + name));
  }
}

TEST(RenderedConf, TwoGroupsOnOnePortSlotAreRefused) {
  std::string config = kTwoGroups;
  config.replace(config.find("\"portSlot\": 2"), 13, "\"portSlot\": 1");
  const auto text = render_conf(config);
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message, HasSubstr("$.processGroups[1].portSlot"));
  EXPECT_THAT(text.error().message, HasSubstr("\"storage-1\" have port slot 1 of 10.0.0.7"));
  // On another address it is another port.
  config.replace(config.rfind("10.0.0.7"), 8, "10.0.0.8");
  EXPECT_TRUE(render_conf(config));
}

TEST(RenderedConf, TwoProcessesInOneDataDirectoryAreRefused) {
  std::string config = kTwoGroups;
  config.replace(config.find("/d/l1"), 5, "/d//s1/2/");
  const auto text = render_conf(config);
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message, HasSubstr("$.processGroups[1].dataDirectory"));
  EXPECT_THAT(text.error().message, HasSubstr("\"storage-1\" has /d/s1/2 already"));
}

// A conf that is the beginning of the one in force is refused as cut off.
TEST(RenderedConf, WithoutItsLastParameterItIsNotTheBeginningOfTheOneBefore) {
  std::string config = kTwoGroups;
  const auto before = render_conf(config);
  config.replace(config.find("\"knob_a = 1\""), 12, "");
  const auto after = render_conf(config);
  ASSERT_TRUE(before && after);
  EXPECT_FALSE(before->starts_with(*after));
}

TEST(RenderedConf, TheExampleThatIsShippedIsGood) {
  const auto conf =
      render_conf(test::read_file(test::source_file("packaging/examples/fdbpack-agent.json")));
  ASSERT_TRUE(conf) << conf.error().message;
  for (const auto* section :
       {"[fdbserver.storage-1-1]", "[fdbserver.storage-1-2]", "[fdbserver.log-1]"}) {
    EXPECT_THAT(*conf, testing::HasSubstr(section));
  }
}

TEST(RenderedConf, NoGroupsAtAllIsSaidOnPurpose) {
  const auto text = render_conf(R"({"processGroups": []})");
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("# fdbpack: no processes"));
}

}  // namespace
}  // namespace fdbpack::agent
