// SPDX-License-Identifier: Apache-2.0
//
// What all stores refuse before they look at anything else.
#pragma once

#include "ports/store.hpp"

namespace fdbpack::store {

// invalid_argument when a transaction is beyond the limits of ports/store.hpp, has an empty key or
// writes a key twice.
[[nodiscard]] Status check_limits(const ports::StoreTransaction& transaction);

// The first string behind all that begin with `prefix`; empty when there is none.
[[nodiscard]] std::string prefix_end(std::string prefix);

[[nodiscard]] inline Error not_leading() {
  return Error{ErrorCode::precondition, "this coordinator does not lead"};
}
[[nodiscard]] inline Error in_doubt() {
  return Error{ErrorCode::conflict, "a transaction before this one is in doubt: load first"};
}
// That a condition does not hold.
[[nodiscard]] Error changed_since(const std::string& key);

}  // namespace fdbpack::store
