// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/wire/unified_json.hpp"

#include "fdbpack/base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace fdbpack::wire {
namespace {

using conf::UnifiedArgument;
using conf::UnifiedConf;
using nlohmann::json;
using nlohmann::ordered_json;

constexpr int kDepthMax = 32;

ordered_json to_json(const UnifiedArgument& argument) {
  ordered_json object = ordered_json::object();
  if (!argument.type.empty()) object["type"] = argument.type;
  if (!argument.value.empty()) object["value"] = argument.value;
  if (!argument.values.empty()) {
    ordered_json values = ordered_json::array();
    for (const UnifiedArgument& value : argument.values)
      values.push_back(to_json(value));
    object["values"] = std::move(values);
  }
  if (!argument.source.empty()) object["source"] = argument.source;
  if (argument.multiplier != 0) object["multiplier"] = argument.multiplier;
  if (argument.offset != 0) object["offset"] = argument.offset;
  if (argument.ip_family != 0) object["ipFamily"] = argument.ip_family;
  return object;
}

// Reads one field if it is there; a wrong type is an error that names the field.
template <class T>
Status read_field(const json& object, const char* name, bool (json::*is_type)() const noexcept,
                  T& into) {
  const auto field = object.find(name);
  if (field == object.end() || field->is_null()) return {};
  if (!((*field).*is_type)()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("'{}' has a value of the wrong type", name));
  }
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    const bool fits = field->is_number_unsigned() ? std::in_range<T>(field->get<std::uint64_t>())
                                                  : std::in_range<T>(field->get<std::int64_t>());
    if (!fits) return fail(ErrorCode::invalid_argument, fmt::format("'{}' is too large", name));
  }
  into = field->get<T>();
  return {};
}

Result<UnifiedArgument> read_argument(const json& object, int depth) {
  if (!object.is_object()) return fail(ErrorCode::invalid_argument, "an argument is not an object");
  if (depth > kDepthMax)
    return fail(ErrorCode::invalid_argument, "the arguments are nested too deeply");
  UnifiedArgument argument;
  FDBPACK_TRY_VOID(read_field(object, "type", &json::is_string, argument.type));
  FDBPACK_TRY_VOID(read_field(object, "value", &json::is_string, argument.value));
  FDBPACK_TRY_VOID(read_field(object, "source", &json::is_string, argument.source));
  FDBPACK_TRY_VOID(read_field(object, "multiplier", &json::is_number_integer, argument.multiplier));
  FDBPACK_TRY_VOID(read_field(object, "offset", &json::is_number_integer, argument.offset));
  FDBPACK_TRY_VOID(read_field(object, "ipFamily", &json::is_number_integer, argument.ip_family));
  if (const auto values = object.find("values"); values != object.end() && !values->is_null()) {
    if (!values->is_array()) return fail(ErrorCode::invalid_argument, "'values' is not a list");
    for (const json& value : *values) {
      FDBPACK_TRY(UnifiedArgument part, read_argument(value, depth + 1));
      argument.values.push_back(std::move(part));
    }
  }
  return argument;
}

}  // namespace

std::string write_unified_conf(const UnifiedConf& conf) {
  ordered_json object = ordered_json::object();
  object["version"] = conf.version;
  if (conf.run_servers) object["runServers"] = *conf.run_servers;
  if (!conf.arguments.empty()) {
    ordered_json arguments = ordered_json::array();
    for (const UnifiedArgument& argument : conf.arguments)
      arguments.push_back(to_json(argument));
    object["arguments"] = std::move(arguments);
  }
  std::string text = object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  text = text::replace_all(text, "<", "\\u003c");
  text = text::replace_all(text, ">", "\\u003e");
  return text::replace_all(text, "&", "\\u0026");
}

Result<UnifiedConf> read_unified_conf(std::string_view text) {
  json document;
  try {
    document = json::parse(text);
  } catch (const json::parse_error& error) {
    return fail(ErrorCode::invalid_argument,
                text.empty() ? "this is not JSON: there is nothing in it"
                             : fmt::format("this is not JSON, from byte {} of {} on", error.byte,
                                           text.size()));
  }
  if (!document.is_object())
    return fail(ErrorCode::invalid_argument, "the configuration is not an object");
  UnifiedConf conf;
  FDBPACK_TRY_VOID(read_field(document, "version", &json::is_string, conf.version));
  if (conf.version.empty())
    return fail(ErrorCode::invalid_argument, "the configuration has no version");
  if (const auto run = document.find("runServers"); run != document.end() && !run->is_null()) {
    if (!run->is_boolean())
      return fail(ErrorCode::invalid_argument, "'runServers' is not true or false");
    conf.run_servers = run->get<bool>();
  }
  if (const auto list = document.find("arguments"); list != document.end() && !list->is_null()) {
    if (!list->is_array()) return fail(ErrorCode::invalid_argument, "'arguments' is not a list");
    for (const json& item : *list) {
      FDBPACK_TRY(UnifiedArgument argument, read_argument(item, 1));
      conf.arguments.push_back(std::move(argument));
    }
  }
  return conf;
}

}  // namespace fdbpack::wire
