// SPDX-License-Identifier: Apache-2.0
//
// Input that is refused before anything is decided. Each error names the thing and what would make
// it work.
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/place/inventory.hpp"

namespace fdbpack::place {

[[nodiscard]] Status check_values(const Fleet& fleet);
[[nodiscard]] Status check_duplicates(const Fleet& sorted);
[[nodiscard]] Status check_group(const Inventory& inventory, const Group& group);

}  // namespace fdbpack::place
