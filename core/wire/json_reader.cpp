// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/wire/json_reader.hpp"

#include "fdbpack/base/overloaded.hpp"

#include <algorithm>
#include <utility>

namespace fdbpack::wire {
namespace {

std::string_view type_name(const JsonValue& value) {
  using Name = std::string_view;
  return std::visit(Overloaded{[](std::monostate) -> Name { return "null"; },
                               [](bool) -> Name { return "a boolean"; },
                               [](std::int64_t) -> Name { return "a number"; },
                               [](double) -> Name { return "a number"; },
                               [](const std::string&) -> Name { return "a string"; },
                               [](const JsonValue::Array&) -> Name { return "an array"; },
                               [](const JsonValue::Object&) -> Name { return "an object"; }},
                    value.data);
}

std::string shown(double number) {
  return print_json(JsonValue(number), JsonLayout::compact);
}

// What somebody wrote, short enough to be read in a message.
std::string quoted(std::string_view text) {
  constexpr std::size_t kShownMax = 60;
  if (text.size() <= kShownMax) return "\"" + std::string(text) + "\"";
  return "\"" + std::string(text.substr(0, kShownMax)) + "...\"";
}

// Enough for any honest mistake; a hostile document does not get to fill the memory with them.
constexpr std::size_t kViolationsMax = 1000;

void record(Violations& violations, std::string path, std::string message) {
  if (violations.size() < kViolationsMax) {
    violations.push_back({std::move(path), std::move(message)});
  }
}

std::string listed(std::span<const std::string_view> words) {
  std::string result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) result += i + 1 == words.size() ? " or " : ", ";
    result += words[i];
  }
  return result;
}

}  // namespace

bool JsonReader::is_null() const {
  return std::holds_alternative<std::monostate>(value_->data);
}

void JsonReader::refuse(std::string message) const {
  record(*violations_, path_, std::move(message));
}

void JsonReader::refuse_type(std::string_view wanted) const {
  refuse("this must be " + std::string(wanted) + ", but it is " + std::string(type_name(*value_)));
}

std::optional<bool> JsonReader::boolean() const {
  if (const auto* flag = std::get_if<bool>(&value_->data)) return *flag;
  refuse_type("true or false");
  return std::nullopt;
}

std::optional<std::string> JsonReader::string() const {
  if (const auto* text = std::get_if<std::string>(&value_->data)) return *text;
  refuse_type("a string");
  return std::nullopt;
}

std::optional<std::int64_t> JsonReader::integer(std::int64_t low, std::int64_t high) const {
  const auto* whole = std::get_if<std::int64_t>(&value_->data);
  if (whole != nullptr && *whole >= low && *whole <= high) return *whole;
  const std::string wanted =
      "a whole number from " + std::to_string(low) + " to " + std::to_string(high);
  if (whole != nullptr) {
    refuse("this must be " + wanted + ", but it is " + std::to_string(*whole));
  } else if (const auto* real = std::get_if<double>(&value_->data)) {
    refuse("this must be " + wanted + ", but it is " + shown(*real));
  } else {
    refuse_type(wanted);
  }
  return std::nullopt;
}

std::optional<double> JsonReader::number(double low, double high) const {
  std::optional<double> value;
  if (const auto* whole = std::get_if<std::int64_t>(&value_->data)) {
    value = static_cast<double>(*whole);
  } else if (const auto* real = std::get_if<double>(&value_->data)) {
    value = *real;
  }
  const std::string wanted = "a number from " + shown(low) + " to " + shown(high);
  if (!value) {
    refuse_type(wanted);
    return std::nullopt;
  }
  if (*value >= low && *value <= high) return value;
  refuse("this must be " + wanted + ", but it is " + shown(*value));
  return std::nullopt;
}

std::vector<JsonReader> JsonReader::items(std::size_t items_max) const {
  std::vector<JsonReader> readers;
  const auto* array = std::get_if<JsonValue::Array>(&value_->data);
  if (array == nullptr) {
    refuse_type("an array");
  } else if (array->size() > items_max) {
    refuse("this has " + std::to_string(array->size()) + " entries, at most " +
           std::to_string(items_max) + " are allowed; remove some");
  } else {
    readers.reserve(array->size());
    for (const auto& item : *array) {
      readers.emplace_back(item, item_path(path_, readers.size()), *violations_);
    }
  }
  return readers;
}

std::optional<std::size_t> JsonReader::one_of(std::span<const std::string_view> allowed,
                                              std::string_view what) const {
  const auto text = string();
  if (!text) return std::nullopt;
  const auto found = std::find(allowed.begin(), allowed.end(), *text);
  if (found != allowed.end()) return static_cast<std::size_t>(found - allowed.begin());
  std::string message = quoted(*text) + " is not a " + std::string(what);
  if (const auto near = closest(*text, allowed)) {
    message += "; did you mean \"" + std::string(*near) + "\"?";
  } else {
    message += "; use " + listed(allowed);
  }
  refuse(std::move(message));
  return std::nullopt;
}

ObjectReader::ObjectReader(const JsonReader& reader)
    : reader_(reader), is_object_(std::holds_alternative<JsonValue::Object>(reader.value_->data)) {
  if (!is_object_) reader_.refuse_type("an object");
}

const JsonValue* ObjectReader::find(std::string_view name) const {
  if (!is_object_) return nullptr;
  for (const auto& [key, value] : std::get<JsonValue::Object>(reader_.value_->data)) {
    if (key == name) return &value;
  }
  return nullptr;
}

std::optional<JsonReader> ObjectReader::optional(std::string_view name) {
  asked_.push_back(name);
  const JsonValue* value = find(name);
  if (value == nullptr) return std::nullopt;
  return JsonReader(*value, member_path(reader_.path_, name), *reader_.violations_);
}

std::optional<JsonReader> ObjectReader::required(std::string_view name) {
  auto reader = optional(name);
  if (!reader && is_object_) {
    record(*reader_.violations_, member_path(reader_.path_, name), "this field is missing; add it");
  }
  return reader;
}

std::vector<std::pair<std::string, JsonReader>> ObjectReader::members() const {
  std::vector<std::pair<std::string, JsonReader>> result;
  if (!is_object_) return result;
  for (const auto& [key, value] : std::get<JsonValue::Object>(reader_.value_->data)) {
    result.emplace_back(key,
                        JsonReader(value, member_path(reader_.path_, key), *reader_.violations_));
  }
  return result;
}

void ObjectReader::finish() {
  if (!is_object_) return;
  for (const auto& [key, value] : std::get<JsonValue::Object>(reader_.value_->data)) {
    if (std::find(asked_.begin(), asked_.end(), key) != asked_.end()) continue;
    std::string message = "there is no such field";
    if (const auto near = closest(key, asked_)) {
      message += "; did you mean \"" + std::string(*near) + "\"?";
    } else if (asked_.empty()) {
      message += "; remove it, this object has none";
    } else {
      message += "; remove it or use " + listed(asked_);
    }
    record(*reader_.violations_, member_path(reader_.path_, key), std::move(message));
  }
}

void ObjectReader::read(std::string_view name, bool& target) {
  if (const auto field = optional(name)) target = field->boolean().value_or(target);
}

void ObjectReader::read(std::string_view name, std::uint32_t& target, std::uint32_t low,
                        std::uint32_t high) {
  const auto field = optional(name);
  if (!field) return;
  if (const auto value = field->integer(low, high)) target = static_cast<std::uint32_t>(*value);
}

}  // namespace fdbpack::wire
