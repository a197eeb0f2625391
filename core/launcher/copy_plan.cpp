// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/launcher/copy_plan.hpp"

#include "fdbpack/conf/path.hpp"
#include "fdbpack/model/version.hpp"

namespace fdbpack::launcher {
namespace {

std::string join(const std::string& directory, const std::string& file) {
  return conf::clean_path(conf::join_path(directory, file));
}

Result<std::string> binary_target(const CopyRequest& request) {
  if (!request.binary_output_dir.empty()) return request.binary_output_dir;
  if (request.mode == CopyMode::sidecar) return join("bin", request.container_version);
  FDBPACK_TRY(const model::Version version, model::find_version(request.container_version));
  return std::to_string(version.major) + "." + std::to_string(version.minor);
}

}  // namespace

Result<CopyPlan> plan_copies(const CopyRequest& request) {
  CopyPlan plan;
  for (const std::string& file : request.files)
    plan.targets[join(request.input_dir, file)] = "";
  if (!request.binaries.empty()) {
    FDBPACK_TRY(const std::string target, binary_target(request));
    for (const std::string& binary : request.binaries)
      plan.targets[join(request.binary_dir, binary)] = join(target, binary);
  }
  const auto library = [&](const std::string& version) { return "libfdb_c_" + version + ".so"; };
  for (const std::string& version : request.libraries)
    plan.targets[join(request.library_dir, library(version))] = library(version);
  if (!request.primary_library.empty()) {
    plan.targets[join(request.library_dir, library(request.primary_library))] = "libfdb_c.so";
  }
  for (const std::string& file : request.required) {
    const std::string source = join(request.input_dir, file);
    if (!plan.targets.contains(source)) {
      return fail(ErrorCode::invalid_argument,
                  "file " + file + " is required, but is not in the --copy-file list");
    }
    plan.required.insert(source);
  }
  return plan;
}

std::string output_path(const std::string& output_dir, const std::string& source,
                        const std::string& target) {
  if (!target.empty()) return join(output_dir, target);
  return join(output_dir, source.substr(source.find_last_of('/') + 1));
}

}  // namespace fdbpack::launcher
