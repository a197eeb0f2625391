// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/model/custom_parameter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fdbpack::model {
namespace {

using testing::HasSubstr;

TEST(CustomParameter, FirstEqualsDividesAndTheValueStaysWhole) {
  const auto parameter = parse_custom_parameter("  tls_rules =  S.CN=a=b , c  ");
  ASSERT_TRUE(parameter);
  EXPECT_EQ(*parameter, (CustomParameter{"tls_rules", "S.CN=a=b , c"}));
  EXPECT_EQ(parse_custom_parameter("knob_x=").value(), (CustomParameter{"knob_x", ""}));
}

TEST(CustomParameter, RefusalsSayWhatToDo) {
  struct Case {
    std::string text;
    const char* expected;
  };
  const Case cases[] = {
      {"knob_x", "has no =; write name = value"},
      {"", "has no =; write name = value"},
      {" = 1", "the name in front of = is missing"},
      {"--knob_x=1", "leave out the leading --"},
      {"knob x=1", "may only hold letters, digits, _ and -"},
      {"-k=1", "may only hold letters, digits, _ and -"},
      {"knob_x=1\nclass = log", "one line without control characters"},
      {"x=" + std::string(99, 'a'), "at most 100 characters"},
      {"datadir=/x", "use storageUnit"},
      {"restart-delay", "is a key of fdbmonitor"},
      {"RESTART_delay = 1", "is a key of fdbmonitor"},
      {"envvars=A=1", "is a key of fdbmonitor"},
      {"listen-address=x", "use the field listenAddress"},
      {"loggroup=x", "use the field logGroup"},
      {"Locality-ZoneId=x", "use the field zoneVariable"},
      {"locality_instance_id=x", "is set by fdbpack"},
  };
  for (const auto& [text, expected] : cases) {
    const auto parameter = parse_custom_parameter(text);
    ASSERT_FALSE(parameter) << text;
    EXPECT_THAT(parameter.error().message, HasSubstr(expected)) << text;
  }
}

TEST(CustomParameter, DataCenterAndHallMayBeReplaced) {
  EXPECT_TRUE(parse_custom_parameter("locality_dcid=$FDB_INSTANCE_ID"));
  EXPECT_TRUE(parse_custom_parameter("locality_data_hall=x"));
  EXPECT_TRUE(parse_custom_parameter("x=" + std::string(98, 'a')));
}

TEST(CustomParameter, IsADuplicateInEitherSpelling) {
  const std::vector<std::string> entries{"knob_a=1", "knob_b=1", "Knob-A = 2", "bad"};
  const auto parsed = parse_custom_parameters(entries);
  ASSERT_EQ(parsed.violations.size(), 2u);
  EXPECT_EQ(parsed.violations[0].index, 2u);
  EXPECT_EQ(parsed.violations[0].message, "\"Knob-A\" is set twice, first in entry 0; remove one");
  EXPECT_EQ(parsed.violations[1].index, 3u);
  EXPECT_EQ(parsed.parameters.size(), 2u);
}

TEST(CustomParameter, AHundredAreEnough) {
  std::vector<std::string> entries;
  for (int i = 0; i < 100; ++i)
    entries.push_back("knob_" + std::to_string(i) + "=1");
  EXPECT_TRUE(parse_custom_parameters(entries).violations.empty());
  entries.push_back("knob_last=1");
  ASSERT_EQ(parse_custom_parameters(entries).violations.size(), 1u);
  EXPECT_FALSE(parse_custom_parameters(entries).violations[0].index);
}

TEST(CustomParameter, PrintedStaysWithinTheLimit) {
  const std::string text = "x=" + std::string(98, 'a');
  EXPECT_EQ(to_string(parse_custom_parameter(text).value()), text);
  EXPECT_EQ(to_string(CustomParameter{"a", "b"}), "a = b");
}

}  // namespace
}  // namespace fdbpack::model
