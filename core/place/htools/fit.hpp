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

// What a forecast of more than kForecastMax instances is answered with.
[[nodiscard]] Error too_many_instances();

// What of the instance is outside every range of the policy, if anything: of the first range.
[[nodiscard]] std::optional<Lack> policy_lack(const Policy& policy, const Instance& wanted,
                                              bool is_exclusive);
// Why the node cannot take one more after `count` of them. `taken` is what those took of each
// storage unit; what this one takes is added.
[[nodiscard]] std::optional<Refused> refuse(const Cluster& cluster, std::size_t n,
                                            const NodeLoad& load, const Instance& wanted,
                                            const std::vector<std::string>& tags,
                                            std::int64_t count, std::vector<std::int64_t>& taken);

// Where the node's answer to a smaller size may change: it is the same for all amounts of `lack` in
// (result, amount], whatever the other resources are. An instance without a list of disks.
[[nodiscard]] std::int64_t next_change(const Cluster& cluster, std::size_t n, const NodeLoad& load,
                                       Lack lack, std::int64_t amount);

}  // namespace fdbpack::place::htools
