// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fdbpack/launcher/copy_plan.hpp"
#include "ports/file_copier.hpp"
#include "ports/log.hpp"

#include <string>

namespace fdbpack::agent {

// Copies all, in the order of their sources, and stops at the first that fails.
[[nodiscard]] Status copy_all(const launcher::CopyPlan& plan, const std::string& output_dir,
                              ports::FileCopier& copier, ports::Log& log);

}  // namespace fdbpack::agent
