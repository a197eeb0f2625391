// SPDX-License-Identifier: Apache-2.0
//
// fdbmonitor's arithmetic on paths, without looking at the file system.
#pragma once

#include <string>
#include <string_view>

namespace fdbpack::conf {

// "/a/b/.././c//" is "/a/c"; an empty result is ".".
[[nodiscard]] std::string clean_path(std::string_view path);

// The path without its last component, with the separator kept: "/a/b/" is "/a/", "a" is "".
[[nodiscard]] std::string pop_path(std::string_view path);

// One separator between the two; an empty directory leaves the file name alone.
[[nodiscard]] std::string join_path(std::string_view directory, std::string_view file);

}  // namespace fdbpack::conf
