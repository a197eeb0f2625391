// SPDX-License-Identifier: Apache-2.0
//
// An allocation request of Ganeti's IAllocator protocol, version 2, as hail reads it: the whole
// cluster and one instance to place. Nodes may have the `storage` list of the storage-unit design.
// Only requests of type `allocate` for one node are taken; fields that placement does not need are
// read over, as the protocol wants it.
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/place/htools/capacity.hpp"
#include "fdbpack/place/htools/cluster.hpp"
#include "fdbpack/wire/json_value.hpp"

#include <string_view>

namespace fdbpack::wire {

struct HtoolsRequest {
  place::htools::Cluster cluster;
  place::htools::Instance wanted;
};
[[nodiscard]] Result<HtoolsRequest> read_htools_request(std::string_view json);

// hail's answer: success, info and result, and beside them what it does not tell: each refused node
// with its reason.
[[nodiscard]] JsonValue to_json(const HtoolsRequest& request,
                                const place::htools::Allocation& allocation);

}  // namespace fdbpack::wire
