// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/wire/agent_state.hpp"
#include "fdbpack/wire/handover.hpp"
#include "fdbpack/wire/json_writer.hpp"

#include <gtest/gtest.h>

namespace fdbpack::wire {
namespace {

AgentState sample() {
  ProcessRecord record;
  record.section = "fdbserver.\"odd\"";
  record.pid = 71;
  record.start_ticks = 8812;
  record.exe_device = UINT64_MAX;
  record.exe_inode = 77;
  record.revision = {0xFEDCBA9876543210u, 3};
  record.since = Instant(Duration(123456789));
  record.joined_at = Instant(Duration(-5));
  record.starts = 4;
  record.memory_limit_bytes = std::uint64_t{8} << 30;
  record.kill_on_change = false;
  record.is_held = true;
  ProcessRecord plain;
  plain.is_join_unknown = true;
  plain.is_restart_due = true;
  plain.section = "b";
  return {"boot", "agent", {record, plain}};
}

TEST(AgentState, WhatWasPrintedIsReadBack) {
  const auto read = parse_agent_state(print(sample()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, sample());
}

TEST(AgentState, EveryTornFormIsRefused) {
  const std::string text = print(sample());
  for (std::size_t size = 0; size + 1 < text.size(); ++size) {
    EXPECT_FALSE(parse_agent_state(text.substr(0, size))) << size;
  }
}

TEST(AgentState, OtherVersionsAndOtherKindsAreRefused) {
  EXPECT_EQ(parse_agent_state(R"({"version":2})").error().code, ErrorCode::unsupported);
  EXPECT_FALSE(parse_agent_state("[]"));
  EXPECT_FALSE(parse_agent_state(R"({"version":1,"boot_id":1,"agent_id":"","processes":[]})"));
  EXPECT_FALSE(parse_agent_state(R"({"version":1,"boot_id":"","agent_id":"","processes":[{}]})"));
}

TEST(AgentState, RevisionsSurviveAsText) {
  const supervise::Revision revision{UINT64_MAX, 1};
  EXPECT_EQ(parse_revision(print(revision)), revision);
  EXPECT_FALSE(parse_revision(""));
  EXPECT_FALSE(parse_revision("1.2"));
  EXPECT_FALSE(parse_revision("zzzzzzzzzzzzzzzz.0000000000000000"));
}

TEST(Handover, WhatWasPrintedIsReadBack) {
  const Handover handover{6, 1024, {{"a.1", 7, 8, 9}, {"b.1", 10, -1, -1}}, "state"};
  const auto read = parse_handover(print(handover));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, handover);
  EXPECT_FALSE(parse_handover("{"));
  EXPECT_FALSE(parse_handover("{}"));
}

TEST(JsonWriter, EscapesWhatMustBeAndReplacesWhatIsNoText) {
  std::string text;
  append_json_string(text, std::string_view("a\"\\\n\x01\0b", 7));
  EXPECT_EQ(text, "\"a\\\"\\\\\\n\\u0001\\u0000b\"");
  text.clear();
  append_json_string(text, "\xC3\xA9 \xF0\x9F\x98\x80 \xFF \xC0\xAF \xED\xA0\x80 \xE2\x82");
  EXPECT_EQ(text,
            "\"\xC3\xA9 \xF0\x9F\x98\x80 \xEF\xBF\xBD \xEF\xBF\xBD\xEF\xBF\xBD "
            "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD \xEF\xBF\xBD\xEF\xBF\xBD\"");
}

TEST(JsonWriter, PutsCommasWhereTheyBelong) {
  JsonWriter json;
  json.begin_object().member("a", 1).key("b").begin_array().value(true).null().end_array();
  json.key("c").begin_object().end_object().member("d", "x").end_object();
  EXPECT_EQ(std::move(json).text(), R"({"a":1,"b":[true,null],"c":{},"d":"x"})");
}

}  // namespace
}  // namespace fdbpack::wire
