// SPDX-License-Identifier: Apache-2.0
//
// Reads a JsonValue into our types and keeps everything that is wrong on the way, each with its
// path:
//
//   Violations violations;
//   ObjectReader object(JsonReader(document, violations));
//   if (auto count = object.required("count")) set.count = count->integer(1, 100000).value_or(1);
//   if (auto name = object.optional("name")) ...
//   object.finish();                       refuses the fields that nobody asked for, with the
//   nearest known name
//
// A reader never throws and never stops at the first violation: it returns nothing for what is not
// there or not right, and the caller goes on. The result counts only when `violations` is empty in
// the end. The first thousand are kept.
//
// Readers are small views; the document and `violations` must outlive them.
#pragma once

#include "fdbpack/wire/json_value.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fdbpack::wire {

class JsonReader {
 public:
  JsonReader(const JsonValue& value, Violations& violations) : JsonReader(value, "$", violations) {}
  JsonReader(const JsonValue& value, std::string path, Violations& violations)
      : value_(&value), path_(std::move(path)), violations_(&violations) {}

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool is_null() const;

  // Records what is wrong with this value; the message says what to do.
  void refuse(std::string message) const;

  [[nodiscard]] std::optional<bool> boolean() const;
  [[nodiscard]] std::optional<std::string> string() const;
  // Between `low` and `high`, both included. 3.0 is not a whole number.
  [[nodiscard]] std::optional<std::int64_t> integer(std::int64_t low, std::int64_t high) const;
  [[nodiscard]] std::optional<double> number(double low, double high) const;
  // Empty when this is not an array or has more than `items_max`, which is recorded.
  [[nodiscard]] std::vector<JsonReader> items(std::size_t items_max) const;

  // The index of the string in the list of what is allowed, or a refusal that names the nearest or
  // all of them.
  [[nodiscard]] std::optional<std::size_t> one_of(std::span<const std::string_view> allowed,
                                                  std::string_view what) const;

 private:
  friend class ObjectReader;
  void refuse_type(std::string_view wanted) const;

  const JsonValue* value_;
  std::string path_;
  Violations* violations_;
};

class ObjectReader {
 public:
  // A value that is no object is recorded and read as an empty one without required fields.
  explicit ObjectReader(const JsonReader& reader);

  // The field when it is there, null included.
  [[nodiscard]] std::optional<JsonReader> optional(std::string_view name);
  // The same; a missing field is recorded.
  [[nodiscard]] std::optional<JsonReader> required(std::string_view name);
  // Every member, for objects whose keys are data; nothing is left to finish() then.
  [[nodiscard]] std::vector<std::pair<std::string, JsonReader>> members() const;

  void finish();

  // Fields that need nothing but a type.
  void read(std::string_view name, bool& target);
  void read(std::string_view name, std::uint32_t& target, std::uint32_t low, std::uint32_t high);

 private:
  [[nodiscard]] const JsonValue* find(std::string_view name) const;

  JsonReader reader_;
  bool is_object_ = false;
  std::vector<std::string_view> asked_;
};

// The candidate that is spelt most like `word`, when it is near enough to be what was meant.
[[nodiscard]] std::optional<std::string_view> closest(std::string_view word,
                                                      std::span<const std::string_view> candidates);

}  // namespace fdbpack::wire
