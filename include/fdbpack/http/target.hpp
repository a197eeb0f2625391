// SPDX-License-Identifier: Apache-2.0
//
// The target of a request: "/v1/processes/storage-1%2F2?wait=5s", or with "http://host" in front.
#pragma once

#include "fdbpack/base/result.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fdbpack::http {

struct Target {
  std::string_view path;   // raw, begins with '/', or is "*"
  std::string_view query;  // raw, without '?'
};

// Cuts a target in two. Fails with invalid_argument on a target that is no path.
[[nodiscard]] Result<Target> split_target(std::string_view target);

// "a%20b" → "a b". Nothing when an escape is broken or hides a NUL.
[[nodiscard]] std::optional<std::string> percent_decode(std::string_view text);

// "a=1&b=x%20y" → {a, 1}, {b, x y}; '+' is a blank. Nothing when an escape is broken.
[[nodiscard]] std::optional<std::vector<std::pair<std::string, std::string>>> parse_query(
    std::string_view query);

}  // namespace fdbpack::http
