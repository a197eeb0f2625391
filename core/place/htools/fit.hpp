// SPDX-License-Identifier: Apache-2.0
//
// Whether a node of an htools cluster can take one more instance.
#pragma once

#include "fdbpack/place/htools/capacity.hpp"
#include "fdbpack/place/htools/score.hpp"

#include <optional>
#include <string>
#include <vector>

namespace fdbpack::place::htools {

struct Refused {
  Lack lack;
  std::string reason;
};

// What of the instance is outside every range of the policy, if anything: of the first range.
[[nodiscard]] std::optional<Lack> policy_lack(const Policy& policy, const Instance& wanted,
                                              bool is_exclusive);
// Why the node cannot take one more after `count` of them. `taken` is what those took of each
// storage unit; what this one takes is added.
[[nodiscard]] std::optional<Refused> refuse(const Cluster& cluster, std::size_t n,
                                            const NodeLoad& load, const Instance& wanted,
                                            const std::vector<std::string>& tags,
                                            std::int64_t count, std::vector<std::int64_t>& taken);

}  // namespace fdbpack::place::htools
