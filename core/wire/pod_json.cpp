// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/wire/pod_json.hpp"

#include "fdbpack/base/text.hpp"

#include <nlohmann/json.hpp>

namespace fdbpack::wire {
namespace {

using launcher::Annotations;
using launcher::Metadata;
using nlohmann::json;

std::string string_in(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

Annotations map_in(const json& object, const char* name) {
  Annotations map;
  const auto found = object.find(name);
  if (found == object.end() || !found->is_object()) return map;
  for (const auto& [key, value] : found->items()) {
    if (value.is_string()) map.emplace(key, value.get<std::string>());
  }
  return map;
}

Result<Metadata> metadata_of(const json& object) {
  const auto found = object.is_object() ? object.find("metadata") : object.end();
  if (!object.is_object() || found == object.end() || !found->is_object()) {
    return fail(ErrorCode::corrupt, "the API server's answer has no metadata");
  }
  Metadata metadata;
  metadata.name = string_in(*found, "name");
  metadata.resource_version = string_in(*found, "resourceVersion");
  metadata.annotations = map_in(*found, "annotations");
  metadata.labels = map_in(*found, "labels");
  metadata.is_being_deleted = !string_in(*found, "deletionTimestamp").empty();
  return metadata;
}

Result<json> parse(std::string_view text) {
  json document = json::parse(text, nullptr, false);
  if (document.is_discarded()) {
    return fail(ErrorCode::corrupt, "the API server's answer is not JSON");
  }
  return document;
}

json object_of(const Annotations& map) {
  json object = json::object();
  for (const auto& [name, value] : map)
    object[name] = value;
  return object;
}

std::string dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

Result<Metadata> read_metadata(std::string_view text) {
  FDBPACK_TRY(const json document, parse(text));
  return metadata_of(document);
}

Result<WatchEvent> read_watch_event(std::string_view text) {
  FDBPACK_TRY(const json document, parse(text));
  WatchEvent event;
  if (document.is_object()) event.type = string_in(document, "type");
  const auto object = document.is_object() ? document.find("object") : document.end();
  if (event.type.empty() || object == document.end() || !object->is_object()) {
    return fail(ErrorCode::corrupt, "the API server sent an event that is none");
  }
  if (event.type == "ERROR") {
    event.message = string_in(*object, "message");
    return event;
  }
  FDBPACK_TRY(event.object, metadata_of(*object));
  return event;
}

std::string read_status_message(std::string_view text) {
  const json document = json::parse(text, nullptr, false);
  return document.is_object() ? string_in(document, "message") : "";
}

std::string write_metadata(const Metadata& metadata) {
  return dump({{"metadata",
                {{"annotations", object_of(metadata.annotations)},
                 {"labels", object_of(metadata.labels)}}}});
}

std::string write_annotation_patch(const Annotations& annotations) {
  return dump({{"metadata", {{"annotations", object_of(annotations)}}}});
}

std::string write_string_map(const Annotations& map) {
  std::string text = dump(object_of(map));
  text = text::replace_all(text, "<", "\\u003c");
  text = text::replace_all(text, ">", "\\u003e");
  return text::replace_all(text, "&", "\\u0026");
}

}  // namespace fdbpack::wire
