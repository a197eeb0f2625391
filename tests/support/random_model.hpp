// SPDX-License-Identifier: Apache-2.0
//
// Random values that are valid by construction, for property tests.
#pragma once

#include "fdbpack/base/random.hpp"
#include "fdbpack/model/address.hpp"
#include "fdbpack/model/cluster_spec.hpp"

namespace fdbpack::support {

[[nodiscard]] std::string random_word(Random& random, std::string_view alphabet, std::size_t low,
                                      std::size_t high);
[[nodiscard]] model::Address random_address(Random& random);
[[nodiscard]] model::ClusterSpec random_spec(Random& random);

}  // namespace fdbpack::support
