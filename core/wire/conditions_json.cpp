// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/wire/conditions_json.hpp"

#include "fdbpack/base/calendar.hpp"
#include "fdbpack/wire/json_reader.hpp"

namespace fdbpack::wire {
namespace {

constexpr std::int64_t kVersion = 1;
constexpr std::size_t kConditionsMax = 10'000;

WallTime read_time(ObjectReader& object, std::string_view name) {
  const auto field = object.required(name);
  const auto text = field ? field->string() : std::nullopt;
  const auto time = text ? parse_rfc3339(*text) : std::nullopt;
  if (text && !time) field->refuse("must be a time as 2026-01-02T03:04:05.678Z");
  return time.value_or(WallTime());
}

std::string read_text(ObjectReader& object, std::string_view name) {
  const auto field = object.required(name);
  return field ? field->string().value_or("") : "";
}

conditions::Condition read_condition(const JsonReader& reader) {
  conditions::Condition condition;
  ObjectReader object(reader);
  const std::string type = read_text(object, "type");
  if (const auto known = conditions::parse_type(type)) {
    condition.type = *known;
  } else {
    reader.refuse("there is no condition '" + type + "'");
  }
  if (const auto process = object.optional("process"); process && !process->is_null()) {
    condition.process = process->string().value_or("");
  }
  object.read("active", condition.is_active);
  condition.first_seen = read_time(object, "first_seen");
  condition.last_seen = read_time(object, "last_seen");
  condition.reason = read_text(object, "reason");
  if (const auto times = object.required("times")) {
    condition.times = static_cast<std::uint64_t>(times->integer(0, INT64_MAX).value_or(0));
  }
  object.finish();
  return condition;
}

}  // namespace

void write_conditions(JsonWriter& json, const std::vector<conditions::Condition>& list) {
  json.key("conditions").begin_array();
  for (const auto& condition : list) {
    json.begin_object().member("type", conditions::to_string(condition.type)).key("process");
    if (condition.process.empty()) {
      json.null();
    } else {
      json.value(condition.process);
    }
    json.member("active", condition.is_active)
        .member("first_seen", rfc3339(condition.first_seen))
        .member("last_seen", rfc3339(condition.last_seen))
        .member("times", condition.times)
        .member("reason", condition.reason)
        .end_object();
  }
  json.end_array();
}

void write_draining(JsonWriter& json, const std::optional<Draining>& draining) {
  json.key("draining");
  if (!draining) {
    json.null();
    return;
  }
  json.begin_object()
      .member("since", rfc3339(draining->since))
      .member("reason", draining->reason)
      .end_object();
}

std::string print(const HostRecord& record) {
  JsonWriter json;
  json.begin_object().member("version", kVersion);
  write_draining(json, record.draining);
  write_conditions(json, record.conditions);
  json.end_object();
  return std::move(json).text() + "\n";
}

Result<HostRecord> parse_host_record(std::string_view text) {
  Violations violations;
  const auto document = parse_json(text, violations);
  if (!document) return fail(ErrorCode::corrupt, to_string(violations));
  HostRecord record;
  ObjectReader object(JsonReader(*document, violations));
  if (const auto version = object.required("version")) {
    static_cast<void>(version->integer(kVersion, kVersion));
  }
  if (const auto draining = object.optional("draining"); draining && !draining->is_null()) {
    ObjectReader reader(*draining);
    Draining value;
    value.since = read_time(reader, "since");
    value.reason = read_text(reader, "reason");
    reader.finish();
    record.draining = std::move(value);
  }
  if (const auto list = object.required("conditions")) {
    for (const auto& item : list->items(kConditionsMax))
      record.conditions.push_back(read_condition(item));
  }
  object.finish();
  if (!violations.empty()) return fail(ErrorCode::corrupt, to_string(violations));
  return record;
}

}  // namespace fdbpack::wire
