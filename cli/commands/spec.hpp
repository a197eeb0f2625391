// SPDX-License-Identifier: Apache-2.0
//
// fdbpack spec check FILE: is this a cluster we can run?
#pragma once

#include "cli/outcome.hpp"
#include "fdbpack/model/cluster_spec.hpp"
#include "ports/file_reader.hpp"

#include <string>

namespace fdbpack::cli {

[[nodiscard]] Outcome spec_check(const std::string& file, ports::FileReader& files);

// The spec in `file`, or what there is to say about it. For every command that takes a spec.
[[nodiscard]] tl::expected<model::ClusterSpec, Outcome> load_spec(const std::string& file,
                                                                  ports::FileReader& files);

}  // namespace fdbpack::cli
