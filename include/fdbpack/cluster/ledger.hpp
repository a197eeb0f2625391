// SPDX-License-Identifier: Apache-2.0
//
// Everything that was decided, and the only way to decide more.
//
//   Ledger ──decide(command)──► LedgerChange ──written to the store──► take(change) ──► Ledger
//                  │
//                  └──► why not, in one sentence
//
// decide() changes nothing: a change counts when it is in the store, and only then is it taken and
// told to anybody. Changes are small, however large the ledger is.
#pragma once

#include "fdbpack/base/instant.hpp"
#include "fdbpack/base/result.hpp"
#include "fdbpack/cluster/process_group.hpp"
#include "fdbpack/model/cluster_spec.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace fdbpack::cluster {

struct ClusterRecord {
  model::ClusterSpec spec;
  std::uint64_t generation = 1;  // of the spec
  WallTime changed_at{};
  std::string changed_by;
  bool is_paused = false;
  std::string pause_reason;
  std::string connection_string;  // of the database, once there is one
  // The next number of each class, above every number ever given.
  std::map<model::ProcessClass, std::uint32_t> next_numbers;

  bool operator==(const ClusterRecord&) const = default;
};

struct HostRecord {
  bool is_drained = false;
  std::string drain_reason;
  std::uint64_t assignment = 0;  // revision: grows whenever the host is given something else

  bool operator==(const HostRecord&) const = default;
};

using GroupKey = std::pair<std::string, model::ProcessGroupId>;  // cluster, ID

struct Event {
  std::uint64_t sequence = 0;
  WallTime at{};
  std::string by;       // who asked: "unix uid 0", "reconcile"
  std::string cluster;  // empty: the fleet
  std::string subject;  // a group or host; empty: the cluster
  std::string what;     // one sentence

  bool operator==(const Event&) const = default;
};

// ---- what can be decided ----------------------------------------------------------------------

// `expected` is the generation that the writer has seen; 0: there must be no such cluster.
struct PutSpec {
  model::ClusterSpec spec;
  std::optional<std::uint64_t> expected;  // none: whatever there is
};
struct DeleteCluster {
  std::string cluster;
};
struct AddGroups {
  std::string cluster;
  std::vector<ProcessGroup> groups;  // without numbers: they are given here
  std::string reason;
};
struct RemoveGroup {
  GroupKey group;
  DataPolicy data = DataPolicy::keep;
  std::string reason;
};
struct KeepGroup {
  GroupKey group;
};
struct MarkExcluded {
  GroupKey group;
};
struct ForgetGroup {  // its host has nothing of it any more, and the database neither
  GroupKey group;
};
struct SetAddresses {
  GroupKey group;
  std::vector<std::string> seen;
  bool is_database_down = false;  // then none is forgotten
};
struct SetConnectionString {
  std::string cluster;
  std::string connection_string;
};
struct SetPaused {
  std::string cluster;
  bool is_paused = true;
  std::string reason;
};
struct SetDrained {
  std::string host;
  bool is_drained = true;
  std::string reason;
};

using Command =
    std::variant<PutSpec, DeleteCluster, AddGroups, RemoveGroup, KeepGroup, MarkExcluded,
                 ForgetGroup, SetAddresses, SetConnectionString, SetPaused, SetDrained>;

// Nothing: the entry is removed.
struct LedgerChange {
  std::map<std::string, std::optional<ClusterRecord>> clusters;
  std::map<GroupKey, std::optional<ProcessGroup>> groups;
  std::map<std::string, std::optional<HostRecord>> hosts;
  std::vector<Event> events;

  [[nodiscard]] bool is_empty() const {
    return clusters.empty() && groups.empty() && hosts.empty() && events.empty();
  }
};

class Ledger {
 public:
  // An empty change: it is so already, and there is nothing to write.
  [[nodiscard]] Result<LedgerChange> decide(const Command& command, WallTime now,
                                            const std::string& by) const;
  void take(LedgerChange change);

  [[nodiscard]] const std::map<std::string, ClusterRecord>& clusters() const { return clusters_; }
  [[nodiscard]] const std::map<GroupKey, ProcessGroup>& groups() const { return groups_; }
  [[nodiscard]] const std::map<std::string, HostRecord>& hosts() const { return hosts_; }
  // Of one host or one cluster, in order of cluster and ID.
  [[nodiscard]] std::vector<GroupKey> groups_on(const std::string& host) const;
  [[nodiscard]] std::vector<GroupKey> groups_of(const std::string& cluster) const;
  [[nodiscard]] std::uint64_t last_event() const { return last_event_; }

 private:
  std::map<std::string, ClusterRecord> clusters_;
  std::map<GroupKey, ProcessGroup> groups_;
  std::map<std::string, HostRecord> hosts_;
  std::multimap<std::string, GroupKey> by_host_;
  std::uint64_t last_event_ = 0;
};

}  // namespace fdbpack::cluster
