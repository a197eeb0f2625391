// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/sidecar/substitutions.hpp"

#include "fdbpack/base/random.hpp"
#include "fdbpack/base/text.hpp"
#include "tests/support/seeds.hpp"

#include <gmock/gmock.h>

namespace fdbpack::sidecar {
namespace {

Substitutions sample() {
  Substitutions variables;
  variables.set("FDB_POD_IP", "10.0.0.7");
  variables.set("FDB_ZONE_ID", "zone1");
  variables.set("UNSET", std::nullopt);
  return variables;
}

TEST(SidecarSubstitutions, ReplacesPlainly) {
  const auto variables = sample();
  EXPECT_EQ(variables.apply("a=$FDB_POD_IP:4501\n$FDB_ZONE_ID"), "a=10.0.0.7:4501\nzone1");
  EXPECT_EQ(variables.apply("$FDB_POD_IPx$FDB_ZONE_ID-1"), "10.0.0.7xzone1-1");
  EXPECT_EQ(variables.apply("$$FDB_ZONE_ID ${FDB_ZONE_ID} $UNKNOWN $ID $"),
            "$zone1 ${FDB_ZONE_ID} $UNKNOWN $ID $");
  EXPECT_EQ(variables.apply("$UNSET"), "$UNSET");
  EXPECT_EQ(variables.apply(""), "");
}

TEST(SidecarSubstitutions, LinesEndAsInPython) {
  EXPECT_EQ(with_plain_newlines("a\r\nb\rc\n\r\r\n\r"), "a\nb\nc\n\n\n\n");
  EXPECT_EQ(with_plain_newlines(""), "");
}

TEST(SidecarSubstitutions, MeansTheLongestName) {
  auto variables = sample();
  variables.set("FDB_POD_IP_EXTRA", "b");
  EXPECT_EQ(variables.apply("$FDB_POD_IP_EXTRA $FDB_POD_IP_EXTR"), "b 10.0.0.7_EXTR");
}

TEST(SidecarSubstitutions, DoesNotSearchWhatItPutIn) {
  auto variables = sample();
  variables.set("FDB_POD_IP", "$FDB_ZONE_ID");
  variables.set("A", "$");
  EXPECT_EQ(variables.apply("$FDB_POD_IP $AFDB_ZONE_ID"), "$FDB_ZONE_ID $FDB_ZONE_ID");
}

TEST(SidecarSubstitutions, KeepsTheOrderAndTheLastValue) {
  auto variables = sample();
  variables.set("FDB_POD_IP", "10.0.0.8");
  EXPECT_EQ(variables.to_json(),
            R"({"FDB_POD_IP": "10.0.0.8", "FDB_ZONE_ID": "zone1", "UNSET": null})");
  EXPECT_THAT(variables.missing(), testing::ElementsAre("UNSET"));
  EXPECT_FALSE(variables.has_value("UNSET"));
  EXPECT_EQ(Substitutions().to_json(), "{}");
}

// What Python's json.dumps prints for the same values.
TEST(SidecarSubstitutions, WritesJsonAsPythonDoes) {
  const auto printed = [](std::string value) {
    Substitutions variables;
    variables.set("k", std::move(value));
    return variables.to_json();
  };
  EXPECT_EQ(printed("a\"b\\c\n\r\t\f\b\x01\x7f/"), R"({"k": "a\"b\\c\n\r\t\f\b\u0001\u007f/"})");
  EXPECT_EQ(printed("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"),
            R"({"k": "\u00e9\u20ac\ud83d\ude00"})");
  EXPECT_EQ(printed("x\xFF\xC3(\xE2\x82"), R"({"k": "x\udcff\udcc3(\udce2\udc82"})");
}

// For names of which none begins another and values without '$', one pass over the text is the same
// as sidecar.py's pass per variable.
TEST(SidecarSubstitutions, AgreesWithOnePassPerVariable) {
  const std::vector<std::string> names = {"FDB_PUBLIC_IP", "FDB_MACHINE_ID", "FDB_ZONE_ID",
                                          "FDB_INSTANCE_ID", "BINARY_DIR"};
  const std::vector<std::string> pieces = {
      "$",  "FDB_PUBLIC_IP", "FDB_MACHINE_ID", "FDB_", "ID", "BINARY_DIR", "{", "}",
      "\n", "FDB_ZONE_ID",   "FDB_INSTANCE_ID"};
  for (const auto seed : support::seeds(300)) {
    FDBPACK_TRACE_SEED(seed);
    Random random(seed);
    Substitutions variables;
    std::string conf;
    for (int i = 0; i < 40; ++i)
      conf += pieces[random.below(pieces.size())];
    std::string expected = conf;
    for (const auto& name : names) {
      const std::string value = "v" + std::to_string(random.below(100));
      variables.set(name, value);
      expected = text::replace_all(expected, "$" + name, value);
    }
    EXPECT_EQ(variables.apply(conf), expected) << conf;
  }
}

}  // namespace
}  // namespace fdbpack::sidecar
