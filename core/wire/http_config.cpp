// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/wire/http_config.hpp"

namespace fdbpack::wire {
namespace {

constexpr std::size_t kItemsMax = 100;

void read_text(ObjectReader& object, std::string_view name, std::string& target,
               bool* is_given = nullptr) {
  const auto field = object.optional(name);
  if (!field) return;
  target = field->string().value_or("");
  if (is_given != nullptr) *is_given = true;
}

void read_ids(ObjectReader& object, std::string_view name, std::vector<std::uint32_t>& target) {
  const auto field = object.optional(name);
  if (!field) return;
  for (const auto& item : field->items(kItemsMax)) {
    if (const auto id = item.integer(0, UINT32_MAX)) {
      target.push_back(static_cast<std::uint32_t>(*id));
    }
  }
}

void read_listen(ObjectReader& object, http::ServiceSettings& settings) {
  const auto field = object.optional("listen");
  if (!field) return;
  settings.listen.clear();
  for (const auto& item : field->items(kItemsMax)) {
    const auto text = item.string();
    if (!text) continue;
    auto place = http::parse_listen_place(*text);
    if (place) {
      settings.listen.push_back(*std::move(place));
    } else {
      item.refuse(place.error().message);
    }
  }
}

void read_limits(ObjectReader& object, http::ServiceSettings& settings) {
  const auto field = object.optional("limits");
  if (!field) return;
  for (const auto& [name, value] : ObjectReader(*field).members()) {
    const auto number = value.integer(0, INT64_MAX);
    if (!number) continue;
    const auto status = http::set_limit(settings.limits, name, static_cast<std::uint64_t>(*number));
    if (!status) value.refuse(status.error().message);
  }
}

}  // namespace

void read_http_config(const JsonReader& reader, http::ServiceSettings& settings) {
  ObjectReader object(reader);
  read_listen(object, settings);
  read_text(object, "socket", settings.socket_path);
  if (const auto tls = object.optional("tls")) {
    ObjectReader files(*tls);
    read_text(files, "certificate", settings.certificate_file);
    read_text(files, "key", settings.key_file);
    read_text(files, "authority", settings.authority_file);
    files.finish();
  }
  if (const auto peers = object.optional("verifyPeers")) {
    ObjectReader rules(*peers);
    read_text(rules, "read", settings.read_peers, &settings.has_read_peers);
    read_text(rules, "operate", settings.operate_peers, &settings.has_operate_peers);
    rules.finish();
  }
  if (const auto tokens = object.optional("tokenFiles")) {
    ObjectReader files(*tokens);
    read_text(files, "read", settings.read_token_file);
    read_text(files, "operate", settings.operate_token_file);
    files.finish();
  }
  read_ids(object, "operatorUids", settings.operator_uids);
  read_ids(object, "operatorGids", settings.operator_gids);
  if (const auto names = object.optional("hostNames")) {
    for (const auto& item : names->items(kItemsMax))
      settings.host_names.push_back(item.string().value_or(""));
  }
  read_limits(object, settings);
  object.finish();
  if (const auto status = http::validate(settings); !status) reader.refuse(status.error().message);
}

Reading<DrainRequest> parse_drain_request(std::string_view text, std::size_t depth_max) {
  DrainRequest request;
  if (text.empty()) return request;
  Violations violations;
  JsonLimits limits;
  limits.depth_max = depth_max;
  const auto document = parse_json(text, violations, limits);
  if (!document) return tl::unexpected(violations);
  ObjectReader object(JsonReader(*document, violations));
  object.read("draining", request.is_draining);
  read_text(object, "reason", request.reason);
  object.finish();
  if (!violations.empty()) return tl::unexpected(violations);
  return request;
}

}  // namespace fdbpack::wire
