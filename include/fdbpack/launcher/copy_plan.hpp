// SPDX-License-Identifier: Apache-2.0
//
// What the modes `init` and `sidecar` copy, and where to, relative to --output-dir.
//
//   --copy-file F              <input-dir>/F                   F's last component
//   --copy-binary B            /usr/bin/B                      init: <major.minor>/B
//                                                              sidecar: bin/<version>/B
//                                                              --binary-output-dir D: D/B
//   --copy-library V           …/multiversion/libfdb_c_V.so    libfdb_c_V.so
//   --copy-primary-library V   the same                        libfdb_c.so, and no libfdb_c_V.so
#pragma once

#include "fdbpack/base/result.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace fdbpack::launcher {

enum class CopyMode { init, sidecar };

struct CopyRequest {
  CopyMode mode = CopyMode::init;
  std::string input_dir;
  std::string primary_library;
  std::string binary_output_dir;
  std::vector<std::string> files;
  std::vector<std::string> binaries;
  std::vector<std::string> libraries;
  std::vector<std::string> required;  // among `files`; must not be empty
  std::string container_version;
  std::string binary_dir = "/usr/bin";
  std::string library_dir = "/usr/lib/fdb/multiversion";
};

struct CopyPlan {
  std::map<std::string, std::string> targets;  // by source; "" means the source's last component
  std::set<std::string> required;              // sources
};

[[nodiscard]] Result<CopyPlan> plan_copies(const CopyRequest& request);

// Where a copy of `source` goes, with --output-dir in front.
[[nodiscard]] std::string output_path(const std::string& output_dir, const std::string& source,
                                      const std::string& target);

}  // namespace fdbpack::launcher
