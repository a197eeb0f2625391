// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/wire/json_reader.hpp"
#include "fdbpack/wire/json_value.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace fdbpack::wire {
namespace {

using testing::HasSubstr;

// The compact form of what was read, or the violations.
std::string reprinted(std::string_view text) {
  Violations violations;
  const auto value = parse_json(text, violations);
  return violations.empty() ? print_json(*value, JsonLayout::compact) : to_string(violations);
}

std::string nested(std::size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

TEST(Json, IsPrintedAsItWasRead) {
  for (const auto* text : {"null", "true", "0", "-9223372036854775808", "9223372036854775807",
                           "0.1", "1e+300", "\"\"", "[]", "{}", "[1,[2,{}]]",
                           "{\"z\":1,\"a\":{\"b\":null}}", "\"\\u0001\\n\\\\\\\"/\xC3\xA4\""}) {
    EXPECT_EQ(reprinted(text), text);
  }
}

TEST(Json, IndentedIsForPeople) {
  const JsonValue value =
      JsonValue::Object{{"a", JsonValue::Array{JsonValue(true)}}, {"b", JsonValue::Object{}}};
  EXPECT_EQ(print_json(value, JsonLayout::indented),
            "{\n  \"a\": [\n    true\n  ],\n  \"b\": {}\n}\n");
}

TEST(Json, RefusesAFieldGivenTwiceAtAnyDepth) {
  EXPECT_EQ(reprinted(R"({"a":[0,{"b":1,"b":2,"b":3}],"a":2})"),
            "$.a[1].b: this field is given twice in one object; remove one of the two\n"
            "$.a: this field is given twice in one object; remove one of the two");
}

TEST(Json, RefusesDeepNesting) {
  EXPECT_EQ(reprinted(nested(32)), nested(32));
  EXPECT_THAT(reprinted(nested(33)), HasSubstr("nested more than 32 deep"));
  EXPECT_THAT(reprinted(std::string(1'000'000, '[')), HasSubstr("nested more than 32 deep"));
}

TEST(Json, RefusesWhatIsNotJson) {
  for (const auto* text :
       {"", " ", "{", "[1,]", "{\"a\":}", "{a:1}", "nul", "01", "NaN", "Infinity", "1e999",
        "\"\xFF\"", "\"\xC3\"", "\"\xED\xA0\x80\"", "\"a\nb\"", "[1] 2", "// x\n1"}) {
    EXPECT_THAT(reprinted(text), HasSubstr("this is not valid JSON: ")) << text;
  }
  EXPECT_THAT(reprinted("{\"a\": 1,\n \"b\": }"), HasSubstr("line 2, column 7"));
  EXPECT_THAT(reprinted(""), testing::Not(HasSubstr("json.exception")));
}

TEST(Json, RefusesTooLargeADocument) {
  Violations violations;
  EXPECT_FALSE(parse_json("[1,2,3]", violations, {.bytes_max = 6, .depth_max = 32}));
  EXPECT_THAT(to_string(violations), HasSubstr("the document has 7 bytes, at most 6 are read"));
}

TEST(Json, PrintingReplacesWhatIsNotUtf8) {
  EXPECT_EQ(print_json(JsonValue("a\xFF\xC3(\xF4\x90\x80\x80"), JsonLayout::compact),
            "\"a\xEF\xBF\xBD\xEF\xBF\xBD(\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

TEST(JsonPath, QuotesOddNames) {
  EXPECT_EQ(member_path("$.a", "b-1_C"), "$.a.b-1_C");
  EXPECT_EQ(member_path("$", "az.example/x"), "$[\"az.example/x\"]");
  EXPECT_EQ(member_path("$", ""), "$[\"\"]");
  EXPECT_EQ(item_path("$.a", 3), "$.a[3]");
}

class JsonReaderTest : public testing::Test {
 protected:
  JsonReader reader(std::string_view text) {
    document_ = parse_json(text, violations_).value();
    return JsonReader(document_, violations_);
  }
  [[nodiscard]] std::string told() const { return to_string(violations_); }

  JsonValue document_;
  Violations violations_;
};

TEST_F(JsonReaderTest, NumbersHaveRanges) {
  EXPECT_EQ(reader("3").integer(1, 3), 3);
  EXPECT_EQ(reader("3").number(0.5, 3), 3.0);
  EXPECT_TRUE(violations_.empty());
  EXPECT_FALSE(reader("4").integer(1, 3));
  EXPECT_FALSE(reader("3.0").integer(1, 3));
  EXPECT_FALSE(reader("99999999999999999999").integer(1, 3));
  EXPECT_FALSE(reader("\"3\"").integer(1, 3));
  EXPECT_FALSE(reader("null").number(0.5, 3));
  EXPECT_EQ(told(),
            "$: this must be a whole number from 1 to 3, but it is 4\n"
            "$: this must be a whole number from 1 to 3, but it is 3\n"
            "$: this must be a whole number from 1 to 3, but it is 1e+20\n"
            "$: this must be a whole number from 1 to 3, but it is a string\n"
            "$: this must be a number from 0.5 to 3, but it is null");
}

TEST_F(JsonReaderTest, WrongTypesAreTold) {
  EXPECT_FALSE(reader("1").boolean());
  EXPECT_FALSE(reader("[]").string());
  EXPECT_TRUE(reader("{}").items(3).empty());
  EXPECT_TRUE(reader("[1,2,3,4]").items(3).empty());
  EXPECT_EQ(told(),
            "$: this must be true or false, but it is a number\n"
            "$: this must be a string, but it is an array\n"
            "$: this must be an array, but it is an object\n"
            "$: this has 4 entries, at most 3 are allowed; remove some");
}

TEST_F(JsonReaderTest, UnknownFieldsGetTheNearestName) {
  ObjectReader object(reader(R"({"Count":1,"zzzzzz":2,"name":"a"})"));
  EXPECT_FALSE(object.optional("count"));
  EXPECT_TRUE(object.required("name"));
  EXPECT_FALSE(object.required("kind"));
  object.finish();
  EXPECT_EQ(told(),
            "$.kind: this field is missing; add it\n"
            "$.Count: there is no such field; did you mean \"count\"?\n"
            "$.zzzzzz: there is no such field; remove it or use count, name or kind");
}

TEST_F(JsonReaderTest, AnObjectThatIsNoneIsToldOnce) {
  ObjectReader object(reader("[1]"));
  EXPECT_FALSE(object.required("name"));
  EXPECT_TRUE(object.members().empty());
  object.finish();
  EXPECT_EQ(told(), "$: this must be an object, but it is an array");
}

TEST_F(JsonReaderTest, AHostileDocumentDoesNotFillTheMemory) {
  std::string text = "{\"k\":0";
  for (int i = 0; i < 50'000; ++i)
    text += ",\"k" + std::to_string(i) + "\":0";
  ObjectReader(reader(text + "}")).finish();
  EXPECT_EQ(violations_.size(), 1000u);
}

TEST(Closest, FindsSlipsAndLeavesTheRest) {
  const std::string_view names[] = {"storage", "log", "stateless"};
  EXPECT_EQ(closest("storge", names), "storage");
  EXPECT_EQ(closest("STATLESS", names), "stateless");
  EXPECT_EQ(closest("lgo", names), "log");
  EXPECT_EQ(closest("proxy", names), std::nullopt);
  EXPECT_EQ(closest(std::string(100'000, 'a'), names), std::nullopt);
}

}  // namespace
}  // namespace fdbpack::wire
