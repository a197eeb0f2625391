// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/wire/render_request.hpp"

#include <nlohmann/json.hpp>

namespace fdbpack::wire {
namespace {

using nlohmann::json;

// Both sides are the same program, so anything unexpected is a broken child, not a user's mistake.
Error broken() {
  return {ErrorCode::corrupt, "the template worker answered with something unreadable"};
}

std::string dump(const json& document) {
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool has_string(const json& object, const char* name) {
  return object.is_object() && object.contains(name) && object.at(name).is_string();
}

}  // namespace

std::string write_render_request(const RenderRequest& request) {
  json templates = json::object();
  for (const auto& [file, text] : request.templates)
    templates[file] = text;
  return dump({{"templates", std::move(templates)},
               {"name", request.name},
               {"values", request.values_json}});
}

Result<RenderRequest> read_render_request(std::string_view text) {
  const json document = json::parse(text, nullptr, false);
  if (!has_string(document, "name") || !has_string(document, "values") ||
      !document.contains("templates") || !document.at("templates").is_object()) {
    return fail(broken());
  }
  RenderRequest request;
  request.name = document.at("name").get<std::string>();
  request.values_json = document.at("values").get<std::string>();
  for (const auto& [file, content] : document.at("templates").items()) {
    if (!content.is_string()) return fail(broken());
    request.templates.emplace(file, content.get<std::string>());
  }
  return request;
}

std::string write_render_answer(const Result<std::string>& answer) {
  if (answer) return dump({{"text", *answer}});
  return dump({{"error", answer.error().message}});
}

Result<std::string> read_render_answer(std::string_view text) {
  const json document = json::parse(text, nullptr, false);
  if (has_string(document, "text")) return document.at("text").get<std::string>();
  if (has_string(document, "error"))
    return fail(ErrorCode::invalid_argument, document.at("error").get<std::string>());
  return fail(broken());
}

}  // namespace fdbpack::wire
