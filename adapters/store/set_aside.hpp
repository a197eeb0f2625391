// SPDX-License-Identifier: Apache-2.0
//
// A damaged store keeps its bytes: it is renamed, with its log, to a name that nothing has yet.
#pragma once

#include "fdbpack/base/result.hpp"

#include <string>

namespace fdbpack::store {

// The new name of `path`; "-wal" and "-shm" go with it.
[[nodiscard]] Result<std::string> set_aside(const std::string& path);

}  // namespace fdbpack::store
