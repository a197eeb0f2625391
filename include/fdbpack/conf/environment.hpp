// SPDX-License-Identifier: Apache-2.0
//
// The values of `envvars` and `delete-envvars`, and env files of NAME=value lines.
#pragma once

#include "fdbpack/base/result.hpp"

#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace fdbpack::conf {

// One word of `envvars`: exactly one `=`, and something on both sides.
[[nodiscard]] Result<std::pair<std::string, std::string>> parse_envvar(std::string_view word);

using Environment = std::map<std::string, std::string, std::less<>>;

// NAME=value lines. Blank lines and lines that start with # are skipped, `export ` in front is
// allowed, values are taken as they are (no quotes, no expansion). A later line wins.
[[nodiscard]] Result<Environment> parse_env_file(std::string_view text);

}  // namespace fdbpack::conf
