// SPDX-License-Identifier: Apache-2.0
//
// Reads etcd's JSON. etcd leaves out what is zero, false or empty, and newer versions add fields,
// so whatever is missing is a zero here and whatever is unknown is left alone; what is there and of
// the wrong kind is an error, told by done().
#pragma once

#include "fdbpack/base/base64.hpp"
#include "fdbpack/wire/etcd_json.hpp"
#include "fdbpack/wire/json_value.hpp"

#include <charconv>

namespace fdbpack::wire {

class EtcdReading {
 public:
  explicit EtcdReading(std::string_view text) {
    Violations violations;
    const JsonLimits limits{std::size_t{1} << 30, 32};  // whoever read the text had a limit
    if (auto document = parse_json(text, violations, limits); document && violations.empty()) {
      document_ = *std::move(document);
    } else {
      is_good_ = false;
    }
    if (!std::holds_alternative<JsonValue::Object>(document_.data)) is_good_ = false;
  }

  [[nodiscard]] const JsonValue* root() const { return &document_; }

  [[nodiscard]] const JsonValue* member(const JsonValue* object, std::string_view name) {
    if (object == nullptr) return nullptr;
    const auto* members = std::get_if<JsonValue::Object>(&object->data);
    if (members == nullptr) return refuse();
    for (const auto& [key, value] : *members) {
      if (key == name) return &value;
    }
    return nullptr;
  }
  [[nodiscard]] const JsonValue::Array& items(const JsonValue* array) {
    static const JsonValue::Array kNone;
    if (array == nullptr) return kNone;
    if (const auto* values = std::get_if<JsonValue::Array>(&array->data)) return *values;
    is_good_ = false;
    return kNone;
  }
  [[nodiscard]] std::string string(const JsonValue* object, std::string_view name) {
    const JsonValue* value = member(object, name);
    if (value == nullptr) return {};
    if (const auto* text = std::get_if<std::string>(&value->data)) return *text;
    is_good_ = false;
    return {};
  }
  [[nodiscard]] bool boolean(const JsonValue* object, std::string_view name) {
    const JsonValue* value = member(object, name);
    if (value == nullptr) return false;
    if (const auto* flag = std::get_if<bool>(&value->data)) return *flag;
    is_good_ = false;
    return false;
  }
  [[nodiscard]] std::int64_t whole(const JsonValue* object, std::string_view name) {
    const JsonValue* value = member(object, name);
    if (value == nullptr) return 0;
    if (const auto* number = std::get_if<std::int64_t>(&value->data)) return *number;
    std::int64_t result = 0;
    if (const auto* text = std::get_if<std::string>(&value->data)) {
      const char* end = text->data() + text->size();
      const auto [stop, error] = std::from_chars(text->data(), end, result);
      if (error == std::errc() && stop == end) return result;
    }
    is_good_ = false;
    return 0;
  }
  [[nodiscard]] std::string bytes(const JsonValue* object, std::string_view name) {
    const JsonValue* value = member(object, name);
    if (value == nullptr) return {};
    if (const auto* text = std::get_if<std::string>(&value->data)) {
      if (auto decoded = from_base64(*text)) return *std::move(decoded);
    }
    is_good_ = false;
    return {};
  }
  [[nodiscard]] std::uint64_t revision(const JsonValue* object, std::string_view name) {
    return static_cast<std::uint64_t>(whole(object, name));
  }
  [[nodiscard]] std::uint64_t header_revision(const JsonValue* object) {
    return revision(member(object, "header"), "revision");
  }
  [[nodiscard]] EtcdEntry entry(const JsonValue* object) {
    EtcdEntry entry;
    entry.key = bytes(object, "key");
    entry.value = bytes(object, "value");
    entry.create_revision = revision(object, "create_revision");
    entry.mod_revision = revision(object, "mod_revision");
    entry.lease = whole(object, "lease");
    if (entry.key.empty() || entry.mod_revision == 0) is_good_ = false;
    return entry;
  }

  template <class T>
  [[nodiscard]] Result<T> done(std::string_view what, T value) const {
    if (is_good_) return value;
    return fail(ErrorCode::corrupt,
                "etcd's answer to a " + std::string(what) + " cannot be understood");
  }

 private:
  const JsonValue* refuse() {
    is_good_ = false;
    return nullptr;
  }

  JsonValue document_;
  bool is_good_ = true;
};

}  // namespace fdbpack::wire
