// SPDX-License-Identifier: Apache-2.0
//
// Where the values of a configuration's variables come from, the first that has one:
//
//   --additional-env-file   lines `export NAME=value`, values as they are, quotes included
//   labels of the node      NODE_LABEL_TOPOLOGY_KUBERNETES_IO_ZONE and so on
//   our own environment
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/conf/environment.hpp"
#include "fdbpack/launcher/configuration.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace fdbpack::launcher {

struct AdditionalEnvironment {
  conf::Environment variables;
  std::vector<std::string> refused;  // lines that hold no `export NAME=`
};
[[nodiscard]] AdditionalEnvironment parse_additional_environment(std::string_view text);

// The same variables with one more for each label: in upper case, with `/` and `.` as `_`.
[[nodiscard]] conf::Environment with_node_labels(conf::Environment environment,
                                                 const conf::Environment& labels);

// Each variable that the arguments use, with the value that went into them, and BINARY_DIR.
[[nodiscard]] Result<conf::Environment> used_environment(const Configuration& configuration,
                                                         const conf::Environment& environment);

}  // namespace fdbpack::launcher
