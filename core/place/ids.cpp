// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/place/ids.hpp"

#include "fdbpack/base/text.hpp"

#include <algorithm>
#include <string_view>

namespace fdbpack::place {

IdSource::IdSource(const PlacementState& state, Index scope)
    : process_class_(state.inventory().scopes()[static_cast<std::size_t>(scope)].class_name) {
  for (const PlacedGroup& group : state.groups()) {
    if (group.scope != scope) continue;
    const std::string_view id = group.id;
    const std::size_t dash = id.rfind('-');
    if (dash == std::string_view::npos) continue;
    const auto number = text::parse_decimal(id.substr(dash + 1));
    if (number && *number < UINT32_MAX) last_ = std::max(last_, *number);
  }
}

std::string IdSource::next() {
  return process_class_ + "-" + std::to_string(++last_);
}

}  // namespace fdbpack::place
