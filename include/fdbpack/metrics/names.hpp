// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace fdbpack::metrics {

[[nodiscard]] bool is_metric_name(std::string_view name);
[[nodiscard]] bool is_label_name(std::string_view name);

}  // namespace fdbpack::metrics
