// SPDX-License-Identifier: Apache-2.0
//
// The options of a program that serves HTTP, as they were given. They win over a configuration,
// which wins over what the program has by itself:
//
//   default ── configuration ("http": wire/http_config.hpp) ── options ──> http::ServiceSettings
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/http/service.hpp"

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace fdbpack::agent {

struct HttpOptions {
  std::vector<std::string> listen;  // "off" alone: nowhere
  std::optional<std::string> socket;
  std::optional<std::string> certificate, key, authority;
  std::optional<std::string> read_peers, operate_peers;
  std::optional<std::string> read_token_file, operate_token_file;
  std::vector<std::uint32_t> operator_uids, operator_gids;
  std::vector<std::string> host_names;
  std::vector<std::string> limits;  // "connections=64"
};

// `listens_by_default` is for the help.
void add_http_options(CLI::App& app, HttpOptions& options, const char* listens_by_default);

// `settings` with what the options say, validated. Relative paths are taken from `directory`.
[[nodiscard]] Result<http::ServiceSettings> with_options(http::ServiceSettings settings,
                                                         const HttpOptions& options,
                                                         const std::string& directory);

}  // namespace fdbpack::agent
