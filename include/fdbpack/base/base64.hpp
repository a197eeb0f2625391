// SPDX-License-Identifier: Apache-2.0
//
// Bytes as text, by RFC 4648 4 ("+/", padded with "=").
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fdbpack {

[[nodiscard]] std::string to_base64(std::string_view bytes);
// Nothing when the text is not what to_base64() writes for some bytes.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

}  // namespace fdbpack
