// SPDX-License-Identifier: Apache-2.0
#include "agent/launcher/copier.hpp"

#include "agent/world.hpp"

namespace fdbpack::agent {

Status copy_all(const launcher::CopyPlan& plan, const std::string& output_dir,
                ports::FileCopier& copier, ports::Log& log) {
  for (const auto& [source, target] : plan.targets) {
    const std::string path = launcher::output_path(output_dir, source, target);
    log.write(supervise::Severity::info, kLogName, "Copying " + source + " to " + path);
    FDBPACK_TRY_VOID(copier.copy(source, path, plan.required.contains(source)));
  }
  return {};
}

}  // namespace fdbpack::agent
