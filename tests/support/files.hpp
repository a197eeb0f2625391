// SPDX-License-Identifier: Apache-2.0
//
// Files as tests read and change them.
#pragma once

#include <string>
#include <string_view>

namespace fdbpack::test {

// The whole file; empty when it cannot be read.
[[nodiscard]] std::string read_file(const std::string& path);
// In place: truncates and writes, as an editor or a shell does.
void write_file(const std::string& path, std::string_view text);
// Aside and renamed over, so that no reader sees a part.
void replace_file(const std::string& path, std::string_view text);

}  // namespace fdbpack::test
