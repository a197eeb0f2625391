// SPDX-License-Identifier: Apache-2.0
//
// The order of IDs, which decides every tie: runs of digits compare as numbers, so db-9 comes
// before db-10. Two IDs are equal only if they are the same text.
#pragma once

#include <string_view>

namespace fdbpack::place {

[[nodiscard]] int compare_ids(std::string_view a, std::string_view b);

struct IdLess {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const { return compare_ids(a, b) < 0; }
};

}  // namespace fdbpack::place
