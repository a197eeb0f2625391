// SPDX-License-Identifier: Apache-2.0
#include "plan.hpp"

#include "fdbpack/base/text.hpp"

#include <algorithm>

namespace fdbpack::sidecar {
namespace {

using Replaces = CopyItem::Replaces;

// A name that stays below the directory that it is put behind.
Status check_name(std::string_view option, std::string_view name) {
  const auto parts = text::split(name, '/');
  const bool leads_out = name.starts_with('/') || name.find('\0') != name.npos ||
                         std::find(parts.begin(), parts.end(), "..") != parts.end();
  const bool is_file = !tidy_path(name).empty() && !name.ends_with('/');
  if (!leads_out && is_file) return {};
  return fail(ErrorCode::invalid_argument, "--" + std::string(option) + " '" + std::string(name) +
                                               "' is no name of a file below the directory");
}

// The path of a file of the input directory; as in sidecar.py it may be elsewhere.
std::string input_path(const Options& options, const std::string& name) {
  return name.starts_with('/') ? name : options.input_dir + "/" + name;
}

Status add_libraries(const Options& options, CopyPlan& plan) {
  for (const std::string& version : options.copy_libraries) {
    FDBPACK_TRY_VOID(check_name("copy-library", version));
    const std::string file = "libfdb_c_" + version + ".so";
    // The first is the client's own; the others are loaded by it.
    const bool is_first = version == options.copy_libraries.front();
    plan.libraries.push_back({options.library_dir + "/" + file,
                              is_first ? "lib/libfdb_c.so" : "lib/multiversion/" + file,
                              Replaces::when_different, std::nullopt});
  }
  return {};
}

}  // namespace

std::string tidy_path(std::string_view path) {
  std::string result = path.starts_with('/') ? "/" : "";
  for (const std::string_view part : text::split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (!result.empty() && result.back() != '/') result += '/';
    result += part;
  }
  return result;
}

Result<CopyPlan> make_plan(const Options& options, std::string_view version) {
  CopyPlan plan;
  for (const std::string& name : options.require_not_empty)
    plan.required.push_back(input_path(options, name));
  for (const std::string& name : options.copy_files) {
    FDBPACK_TRY_VOID(check_name("copy-file", name));
    plan.files.push_back({options.input_dir + "/" + name, tidy_path(name), Replaces::always, {}});
  }
  // The main container has these binaries already when it is of the same version.
  if (options.main_container_version != version) {
    FDBPACK_TRY_VOID(check_name("version-file", version));
    for (const std::string& name : options.copy_binaries) {
      FDBPACK_TRY_VOID(check_name("copy-binary", name));
      plan.binaries.push_back({options.binary_dir + "/" + name,
                               tidy_path("bin/" + std::string(version) + "/" + name),
                               Replaces::when_different, kBinaryMode});
    }
  }
  FDBPACK_TRY_VOID(add_libraries(options, plan));
  if (!options.input_monitor_conf.empty()) {
    plan.conf_source = input_path(options, options.input_monitor_conf);
  }
  return plan;
}

}  // namespace fdbpack::sidecar
