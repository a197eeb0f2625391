// SPDX-License-Identifier: Apache-2.0
//
// A process group as it was decided. What is observed of it is elsewhere (roster.hpp).
//
//                          remove                excluded                    gone from its host
//      serving ──────────────────────► leaving ─────────► excluded ────────────────────────►
//      (ended)
//         ▲                               │                   │
//         └────────── keep ───────────────┘                   └── no way back: its data has gone
//
// An ID is never used for two groups, so whatever remembers it, a database's list of exclusions or
// an old agent, remembers the right one.
#pragma once

#include "fdbpack/base/instant.hpp"
#include "fdbpack/model/ids.hpp"
#include "fdbpack/model/storage_unit.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fdbpack::cluster {

// What becomes of the data directory of a group that ends.
enum class DataPolicy { keep, wipe };

struct ProcessGroup {
  model::ProcessGroupId id;
  std::string set{"default"};
  std::string host;
  std::optional<model::StorageUnitId> unit;  // none: a class that keeps nothing
  std::uint64_t disk_mib = 0;
  std::string fault_domain;  // the zone; fixed for life. Empty: the physical domain of the host
  std::uint32_t servers_per_disk = 1;
  std::uint32_t port_slot = 0;
  std::vector<std::string> addresses;  // without ports; the last is the current one
  WallTime created_at{};
  std::optional<WallTime> removal_at;
  std::string removal_reason;
  std::optional<WallTime> exclusion_at;
  DataPolicy data = DataPolicy::keep;

  bool operator==(const ProcessGroup&) const = default;

  [[nodiscard]] bool is_leaving() const { return removal_at.has_value(); }
};

// The addresses after `seen` was reported. An empty `seen` leaves them alone: an address that was
// used may still have to be excluded. One that changed replaces them, unless `keeps_old`: of a
// group that leaves, and while the database is down, every address ever used is needed.
[[nodiscard]] std::vector<std::string> addresses_after(const std::vector<std::string>& known,
                                                       const std::vector<std::string>& seen,
                                                       bool keeps_old);

}  // namespace fdbpack::cluster
