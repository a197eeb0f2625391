// SPDX-License-Identifier: Apache-2.0
//
// Calendar time as text (RFC 3339, UTC, milliseconds): 2026-01-02T03:04:05.678Z
#pragma once

#include "fdbpack/base/instant.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace fdbpack {

[[nodiscard]] std::string rfc3339(WallTime at);
// What rfc3339() wrote; nothing else.
[[nodiscard]] std::optional<WallTime> parse_rfc3339(std::string_view text);

}  // namespace fdbpack
