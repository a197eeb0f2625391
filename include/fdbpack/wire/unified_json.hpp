// SPDX-License-Identifier: Apache-2.0
//
// The JSON of conf::UnifiedConf, byte for byte as the operator writes it: no blanks, fields in its
// order, defaults left out, and <, > and & escaped.
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/conf/unified.hpp"

#include <string>
#include <string_view>

namespace fdbpack::wire {

[[nodiscard]] std::string write_unified_conf(const conf::UnifiedConf& conf);

// Unknown fields are passed over, as fdb-kubernetes-monitor does; a missing version is an error.
[[nodiscard]] Result<conf::UnifiedConf> read_unified_conf(std::string_view json);

}  // namespace fdbpack::wire
