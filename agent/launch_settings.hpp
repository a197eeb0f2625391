// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fdbpack/model/process_settings.hpp"
#include "ports/launcher.hpp"

namespace fdbpack::agent {

// What is set takes the place of what the plan has.
void apply_settings(const model::ProcessSettings& settings, ports::LaunchPlan& plan);

}  // namespace fdbpack::agent
