// SPDX-License-Identifier: Apache-2.0
#include "agent/sidecar/sidecar.hpp"
#include "fdbpack/base/check.hpp"

namespace fdbpack::agent {

using sidecar::Verb;

Status SidecarCopier::copy_all() const {
  for (const Verb verb :
       {Verb::copy_files, Verb::copy_binaries, Verb::copy_libraries, Verb::copy_monitor_conf}) {
    FDBPACK_TRY_VOID(copy(verb));
  }
  return {};
}

Status SidecarCopier::copy(Verb verb) const {
  const sidecar::CopyPlan& plan = settings_.plan;
  if (verb == Verb::copy_files) {
    FDBPACK_TRY_VOID(check_required());
    return copy_items(plan.files);
  }
  if (verb == Verb::copy_binaries) return copy_items(plan.binaries);
  if (verb == Verb::copy_libraries) return copy_items(plan.libraries);
  FDBPACK_CHECK(verb == Verb::copy_monitor_conf);
  return copy_conf();
}

Status SidecarCopier::check_required() const {
  for (const std::string& path : settings_.plan.required) {
    if (input_.has_contents(path)) continue;
    return fail(ErrorCode::precondition, "No contents for file " + path);
  }
  return {};
}

Status SidecarCopier::copy_items(const std::vector<sidecar::CopyItem>& items) const {
  for (const sidecar::CopyItem& item : items) {
    const bool keeps_same = item.replaces == sidecar::CopyItem::Replaces::when_different;
    const ports::CopyRequest request{item.source, item.target, item.mode, keeps_same};
    FDBPACK_TRY_VOID(tree_.copy(request));
  }
  return {};
}

Status SidecarCopier::copy_conf() const {
  if (settings_.plan.conf_source.empty()) return {};
  FDBPACK_TRY(const std::string conf, input_.read(settings_.plan.conf_source));
  return tree_.write(std::string(sidecar::kConfTarget),
                     settings_.substitutions.apply(sidecar::with_plain_newlines(conf)),
                     sidecar::kConfMode);
}

}  // namespace fdbpack::agent
