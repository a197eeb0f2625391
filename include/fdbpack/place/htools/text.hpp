// SPDX-License-Identifier: Apache-2.0
//
// The htools text format: sections of lines, one empty line between sections, `|` between columns.
//
//   groups       name|uuid|alloc_policy|tags[|networks]
//   nodes        name|total mem|node mem|free mem|total disk|free disk|cores|N, Y or M|group uuid
//                [|spindles|tags|exclusive storage|free spindles|node cpus|cpu speed|storage]
//   instances    name|mem|disk|vcpus|status|auto balance|primary|secondary|template|tags
//                [|spindle use|spindles|forthcoming]
//   cluster tags one per line
//   policies     owner|standard|min;max[;min;max]|templates|vcpu ratio|spindle ratio (optional)
//
// `storage` is the column of the storage-unit design: `free,total,type,key[,args]` joined by `;`. A
// file without it follows the old rule of one number per node. `?` for a node's numbers loads the
// node as offline.
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/place/htools/cluster.hpp"

#include <string>
#include <string_view>

namespace fdbpack::place::htools {

[[nodiscard]] Result<Cluster> parse_text(std::string_view text);
[[nodiscard]] std::string print_text(const Cluster& cluster);

}  // namespace fdbpack::place::htools
