// SPDX-License-Identifier: Apache-2.0
//
// A JSON document as a plain value, with its text read strictly and written in a stable order.
//
// The parser refuses what most parsers let pass and people get wrong: a key twice in one object (at
// any depth), deep nesting, text that is not UTF-8, a number too large to hold. Members keep the
// order in which they were given.
#pragma once

#include "fdbpack/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace fdbpack::wire {

struct JsonValue {
  using Array = std::vector<JsonValue>;
  using Object = std::vector<std::pair<std::string, JsonValue>>;

  // Whole numbers that fit are int64; all others are double.
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object> data;

  JsonValue() = default;
  JsonValue(bool value) : data(value) {}
  JsonValue(std::int64_t value) : data(value) {}
  JsonValue(double value) : data(value) {}
  JsonValue(std::string value) : data(std::move(value)) {}
  JsonValue(std::string_view value) : data(std::string(value)) {}
  JsonValue(const char* value) : data(std::string(value)) {}
  JsonValue(Array value) : data(std::move(value)) {}
  JsonValue(Object value) : data(std::move(value)) {}

  bool operator==(const JsonValue&) const = default;
};

// One thing that is wrong with a document: where ("$.processes.storage.count") and what to do.
struct Violation {
  std::string path;
  std::string message;

  bool operator==(const Violation&) const = default;
};
using Violations = std::vector<Violation>;

// "$.a: message" lines, joined by newlines.
[[nodiscard]] std::string to_string(const Violations& violations);

// A value, or everything that is wrong with the document.
template <class T>
using Reading = tl::expected<T, Violations>;

struct JsonLimits {
  std::size_t bytes_max = std::size_t{4} << 20;
  std::size_t depth_max = 32;
};

// Nothing when the text is not JSON within the limits. A field given twice is recorded too, but
// leaves a value (with both), so that a caller can tell what else is wrong; it must not use what it
// read when there are violations.
[[nodiscard]] std::optional<JsonValue> parse_json(std::string_view text, Violations& violations,
                                                  const JsonLimits& limits = {});

enum class JsonLayout { compact, indented };  // one line, or two blanks per level

// Bytes that are not UTF-8 are written as U+FFFD. Numbers must be finite. The indented form ends in
// a newline.
[[nodiscard]] std::string print_json(const JsonValue& value, JsonLayout layout);

// The path of a member or an item: "$.a", "$[\"odd name\"]", "$.a[3]".
[[nodiscard]] std::string member_path(std::string_view path, std::string_view name);
[[nodiscard]] std::string item_path(std::string_view path, std::size_t index);

}  // namespace fdbpack::wire
