// SPDX-License-Identifier: Apache-2.0
//
// Which files go where.
#pragma once

#include "fdbpack/sidecar/settings.hpp"

namespace fdbpack::sidecar {

// Refuses names that lead out of the output directory.
[[nodiscard]] Result<CopyPlan> make_plan(const Options& options, std::string_view version);

// "a//b/./c/" → "a/b/c"; ".." stays.
[[nodiscard]] std::string tidy_path(std::string_view path);

}  // namespace fdbpack::sidecar
