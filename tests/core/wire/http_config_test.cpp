// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/wire/http_config.hpp"

#include "fdbpack/base/calendar.hpp"
#include "fdbpack/wire/agent_config.hpp"
#include "fdbpack/wire/conditions_json.hpp"

#include <gmock/gmock.h>

namespace fdbpack::wire {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string config(const std::string& members) {
  return R"({"processGroups": [], )" + members + "}";
}

TEST(HttpConfig, FillsTheSettingsAndLeavesTheRest) {
  http::ServiceSettings defaults;
  defaults.socket_path = "/default.sock";
  defaults.operator_uids = {0};
  const auto read = parse_agent_config(config(R"("http": {
      "listen": ["127.0.0.1:1", "https://0.0.0.0:2"],
      "tls": {"certificate": "c", "key": "k", "authority": "a"},
      "verifyPeers": {"read": "O=FDB", "operate": "CN=ops"},
      "tokenFiles": {"operate": "/t"}, "operatorUids": [7], "operatorGids": [8],
      "hostNames": ["db-7"], "limits": {"connections": 64, "idle_ms": 1000}},
      "storage": [{"key": "nvme", "path": "/data"}])"),
                                       defaults);
  ASSERT_TRUE(read) << to_string(read.error());
  const auto& http = read->http;
  EXPECT_EQ(http.listen.size(), 2U);
  EXPECT_EQ(http.socket_path, "/default.sock");
  EXPECT_EQ(http.authority_file, "a");
  EXPECT_TRUE(http.has_operate_peers);
  EXPECT_EQ(http.operate_token_file, "/t");
  EXPECT_THAT(http.operator_uids, ElementsAre(0U, 7U));
  EXPECT_THAT(http.operator_gids, ElementsAre(8U));
  EXPECT_EQ(http.limits.connections_max, 64U);
  EXPECT_EQ(http.limits.idle_deadline, std::chrono::seconds(1));
  EXPECT_EQ(http.limits.body_bytes_max, 64U * 1024);
  EXPECT_EQ(read->storage.at(0).path, "/data");
}

TEST(HttpConfig, SaysWhatIsWrongAndWhere) {
  const std::pair<std::string, std::string> cases[] = {
      {R"("http": {"listen": ["nowhere"]})", "$.http.listen[0]"},
      {R"("http": {"limits": {"connexions": 1}})", "there is no limit 'connexions'"},
      {R"("http": {"limits": {"connections": 0}})", "between 1 and"},
      {R"("http": {"verifyPeers": {"read": "O=FDB"}})", "authorities"},
      {R"("http": {"lissen": []})", "lissen"},
      {R"("http": {"operatorUids": [-1]})", "$.http.operatorUids[0]"},
      {R"("storage": [{"key": "x", "path": "relative"}])", "absolute"},
  };
  for (const auto& [members, message] : cases) {
    const auto read = parse_agent_config(config(members));
    ASSERT_FALSE(read) << members;
    EXPECT_THAT(to_string(read.error()), HasSubstr(message));
  }
}

TEST(DrainRequest, MayBeEmpty) {
  EXPECT_TRUE(parse_drain_request("", 32)->is_draining);
  EXPECT_FALSE(parse_drain_request(R"({"draining": false})", 32)->is_draining);
  EXPECT_FALSE(parse_drain_request(R"({"draining": [[[]]]})", 2));
}

TEST(HostRecord, SurvivesItsFile) {
  HostRecord record;
  conditions::Condition condition;
  condition.type = conditions::Type::storage_full;
  condition.process = "fdbserver.4500";
  condition.first_seen = *parse_rfc3339("2026-01-02T03:04:05.678Z");
  condition.last_seen = *parse_rfc3339("2026-02-03T00:00:00.000Z");
  condition.reason = "little \"room\"";
  condition.times = 3;
  record.conditions = {condition};
  record.draining = Draining{condition.first_seen, "disks"};
  const auto again = parse_host_record(print(record));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, record);
  EXPECT_FALSE(parse_host_record(""));
  EXPECT_FALSE(parse_host_record(R"({"version":2,"conditions":[]})"));
  EXPECT_FALSE(parse_host_record(print(record).substr(0, 60)));
}

TEST(Calendar, IsReadAsItIsWritten) {
  for (const char* text :
       {"1970-01-01T00:00:00.000Z", "2026-12-31T23:59:59.999Z", "2024-02-29T12:00:00.001Z"}) {
    const auto time = parse_rfc3339(text);
    ASSERT_TRUE(time) << text;
    EXPECT_EQ(rfc3339(*time), text);
  }
  for (const char* text : {"", "2026-02-30T00:00:00.000Z", "2026-01-01T24:00:00.000Z",
                           "2026-01-01 00:00:00.000Z", "2026-01-01T00:00:00Z"}) {
    EXPECT_FALSE(parse_rfc3339(text)) << text;
  }
}

}  // namespace
}  // namespace fdbpack::wire
