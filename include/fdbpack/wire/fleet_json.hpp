// SPDX-License-Identifier: Apache-2.0
//
// A fleet snapshot as JSON: what placement decides on, in the forms the HTTP API uses.
//
//   {"hosts": [{"id": "db-1", "labels": {"az": "az-1"}, "cpu": 16, "memoryMiB": 65536,
//               "storage": [{"sunit": ["file", "nvme", []], "free": 900000, "total": 1000000}],
//               "portSlots": 100, "draining": false, "unreachable": false}],
//    "clusters": [{"spec": {...}, "healthy": true,
//                  "exactCounts": [{"processClass": "storage", "set": "default", "label": "az",
//                                   "counts": {"az-1": 3, "az-2": 2}}],
//                  "processGroups": {"storage-1": {"processClass": "storage", "set": "default",
//                  "host": "db-1",
//                      "storageUnit": ["file", "nvme", []], "faultDomain": "storage-0",
//                      "serversPerDisk": 2, "portSlot": 0, "cpu": 4, "memoryMiB": 16384, "diskMiB":
//                      131072, "usedMiB": 4096, "removalTimestamp": null, "reserved": false}}}]}
//
// `spec` and the members of `processGroups` are those of the coordinator's API; what of the status
// does not matter here is read over. Without `cpu`, `memoryMiB` or `diskMiB` a group takes what its
// set asks for; without `usedMiB` a running group has filled its disk and a reserved one has not
// begun. A group of several disks has `disks` instead: [{"storageUnit": ["file", "nvme", []],
// "sizeMiB": 131072, "usedMiB": 4096}, ...].
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/place/fleet.hpp"
#include "fdbpack/wire/json_value.hpp"

#include <string>
#include <string_view>

namespace fdbpack::wire {

[[nodiscard]] Reading<place::Fleet> check_fleet(std::string_view json);
[[nodiscard]] Result<place::Fleet> read_fleet(std::string_view json);
// Reading it gives the same fleet.
[[nodiscard]] std::string write_fleet(const place::Fleet& fleet);

}  // namespace fdbpack::wire
