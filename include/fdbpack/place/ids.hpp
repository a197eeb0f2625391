// SPDX-License-Identifier: Apache-2.0
//
// IDs of new process groups: `<class>-<n>`, n above every number that the cluster's class has used.
#pragma once

#include "fdbpack/place/state.hpp"

#include <string>

namespace fdbpack::place {

class IdSource {
 public:
  IdSource(const PlacementState& state, Index scope);
  [[nodiscard]] std::string next();

 private:
  std::string process_class_;
  std::uint64_t last_ = 0;
};

}  // namespace fdbpack::place
