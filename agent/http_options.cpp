// SPDX-License-Identifier: Apache-2.0
#include "agent/http_options.hpp"

#include "fdbpack/base/text.hpp"

#include <CLI/CLI.hpp>

namespace fdbpack::agent {
namespace {

constexpr const char* kOff = "off";

// Every occurrence is one value; without this CLI11 takes the words behind it, too.
CLI::Option* once_each(CLI::Option* option) {
  return option->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

std::string absolute(const std::string& path, const std::string& directory) {
  if (path.empty() || path.front() == '/') return path;
  return directory + (directory.ends_with('/') ? "" : "/") + path;
}

Status apply_listen(http::ServiceSettings& settings, const std::vector<std::string>& places) {
  if (places.empty()) return {};
  settings.listen.clear();
  for (const auto& text : places) {
    if (text == kOff && places.size() == 1) break;
    FDBPACK_TRY(auto place, http::parse_listen_place(text));
    settings.listen.push_back(std::move(place));
  }
  return {};
}

Status apply_limits(http::ServiceSettings& settings, const std::vector<std::string>& limits) {
  for (const auto& text : limits) {
    const auto equals = text.find('=');
    const auto value = equals == text.npos
                           ? std::nullopt
                           : text::parse_decimal(std::string_view(text).substr(equals + 1));
    if (!value) return fail(ErrorCode::invalid_argument, "'" + text + "' is not NAME=NUMBER");
    FDBPACK_TRY_VOID(http::set_limit(settings.limits, text.substr(0, equals), *value));
  }
  return {};
}

}  // namespace

void add_http_options(CLI::App& app, HttpOptions& options, const char* listens_by_default) {
  const char* const group = "HTTP";
  once_each(app.add_option("--listen", options.listen,
                           std::string("ADDRESS:PORT, several times; off (default: ") +
                               listens_by_default + ")"))
      ->group(group);
  app.add_option("--socket", options.socket,
                 "Path of the unix socket, or off (default: agent.sock in the state directory)")
      ->group(group);
  app.add_option("--tls-certificate", options.certificate, "PEM file, with the chain behind it")
      ->group(group);
  app.add_option("--tls-key", options.key, "PEM file")->group(group);
  app.add_option("--tls-ca", options.authority, "Whose client certificates are known, PEM file")
      ->group(group);
  app.add_option("--verify-peers-read", options.read_peers,
                 "Client certificates that may read, as in tls_verify_peers")
      ->group(group);
  app.add_option("--verify-peers-operate", options.operate_peers,
                 "Client certificates that may also stop and start processes")
      ->group(group);
  app.add_option("--token-file", options.operate_token_file,
                 "Bearer tokens that may do everything, one a line")
      ->group(group);
  app.add_option("--read-token-file", options.read_token_file, "Bearer tokens that may read")
      ->group(group);
  once_each(app.add_option("--operator-uid", options.operator_uids,
                           "A user who may do everything over the unix socket"))
      ->group(group);
  once_each(app.add_option("--operator-gid", options.operator_gids, "A group of such users"))
      ->group(group);
  once_each(app.add_option("--host-name", options.host_names,
                           "A name by which clients on this host may call it"))
      ->group(group);
  std::string names;
  for (const auto name : http::limit_names())
    names += (names.empty() ? "" : ", ") + std::string(name);
  once_each(app.add_option("--http-limit", options.limits, "NAME=NUMBER: " + names))->group(group);
}

Result<http::ServiceSettings> with_options(http::ServiceSettings settings,
                                           const HttpOptions& options,
                                           const std::string& directory) {
  const auto set = [](std::string& target, const std::optional<std::string>& value) {
    if (value) target = *value;
  };
  FDBPACK_TRY_VOID(apply_listen(settings, options.listen));
  set(settings.socket_path, options.socket);
  if (settings.socket_path == kOff) settings.socket_path.clear();
  set(settings.certificate_file, options.certificate);
  set(settings.key_file, options.key);
  set(settings.authority_file, options.authority);
  set(settings.read_peers, options.read_peers);
  set(settings.operate_peers, options.operate_peers);
  settings.has_read_peers |= options.read_peers.has_value();
  settings.has_operate_peers |= options.operate_peers.has_value();
  set(settings.read_token_file, options.read_token_file);
  set(settings.operate_token_file, options.operate_token_file);
  for (std::string* path :
       {&settings.socket_path, &settings.certificate_file, &settings.key_file,
        &settings.authority_file, &settings.read_token_file, &settings.operate_token_file}) {
    *path = absolute(*path, directory);
  }
  settings.operator_uids.insert(settings.operator_uids.end(), options.operator_uids.begin(),
                                options.operator_uids.end());
  settings.operator_gids.insert(settings.operator_gids.end(), options.operator_gids.begin(),
                                options.operator_gids.end());
  settings.host_names.insert(settings.host_names.end(), options.host_names.begin(),
                             options.host_names.end());
  FDBPACK_TRY_VOID(apply_limits(settings, options.limits));
  FDBPACK_TRY_VOID(http::validate(settings));
  return settings;
}

}  // namespace fdbpack::agent
