// SPDX-License-Identifier: Apache-2.0
//
// Single fields of the htools text format.
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/place/htools/cluster.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace fdbpack::place::htools {

[[nodiscard]] Result<std::int64_t> field_integer(std::string_view text, std::string_view what);
// Finite: nan and inf are refused.
[[nodiscard]] Result<double> field_number(std::string_view text, std::string_view what);
[[nodiscard]] Result<bool> field_bool(std::string_view text, std::string_view what);
[[nodiscard]] std::vector<std::string> field_list(std::string_view text);
[[nodiscard]] Result<std::vector<StorageUnit>> field_storage(std::string_view text);
[[nodiscard]] Result<Policy> field_policy(const std::vector<std::string_view>& columns);
[[nodiscard]] bool is_known_status(std::string_view status);

}  // namespace fdbpack::place::htools
