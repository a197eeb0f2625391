// SPDX-License-Identifier: Apache-2.0
//
// A fleet that was checked and put in order, so that decisions can be made on it: hosts, clusters,
// sets and groups are sorted by ID and known by their index. An inventory never changes;
// PlacementState (state.hpp) is the working copy that decisions are tried on.
//
// Refused, naming the thing and what would make it work: negative capacity, more free than total, a
// unit or an ID listed twice, a group on an unknown host, a spec that no placement can satisfy. Not
// refused but reported by violations(): capacity that shrank under the groups on it, a unit that
// vanished, shared port slots.
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/place/fleet.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace fdbpack::place {

using Index = std::int32_t;
inline constexpr Index kNone = -1;

// One (cluster, class): the scope in which fault domains are counted and kept apart.
struct Scope {
  Index cluster = kNone;
  Index process_class =
      kNone;  // index in the cluster's classes; kNone when the spec no longer has the class
  std::string class_name;
  int domains = 0;         // desired logical fault domains, 0 when they are off
  int desired_groups = 0;  // over all sets
  bool is_required = false;
  Index physical = kNone;  // index in Inventory::physical()
};

// A set that the spec has, with its scope.
struct SetRef {
  Index scope = kNone;
  const SetDemand* demand = nullptr;
};

// One way to divide the hosts into physical fault domains: each host is its own, or by the value of
// a label.
struct PhysicalView {
  std::string label;               // "host" or a label
  std::vector<std::string> names;  // of the domains, sorted
  std::vector<Index> domain_of;    // host index -> domain index, kNone when the label is missing
  std::vector<std::vector<Index>> members;  // domain index -> hosts
};

class Inventory {
 public:
  [[nodiscard]] static Result<Inventory> build(Fleet fleet);

  Inventory(const Inventory&) = delete;
  Inventory& operator=(const Inventory&) = delete;
  Inventory(Inventory&&) = default;
  Inventory& operator=(Inventory&&) = default;

  [[nodiscard]] const Fleet& fleet() const { return fleet_; }
  [[nodiscard]] const std::vector<Host>& hosts() const { return fleet_.hosts; }
  [[nodiscard]] const std::vector<Group>& groups() const { return fleet_.groups; }
  [[nodiscard]] const std::vector<ClusterDemand>& clusters() const { return fleet_.clusters; }
  [[nodiscard]] const std::vector<Scope>& scopes() const { return scopes_; }
  [[nodiscard]] const std::vector<SetRef>& sets() const { return sets_; }
  [[nodiscard]] const std::vector<PhysicalView>& physical() const { return physical_; }

  // kNone when there is no such thing.
  [[nodiscard]] Index find_host(std::string_view id) const;
  [[nodiscard]] Index find_cluster(std::string_view name) const;
  [[nodiscard]] Index find_scope(std::string_view cluster, std::string_view process_class) const;
  [[nodiscard]] Index find_set(std::string_view cluster, std::string_view process_class,
                               std::string_view set) const;
  [[nodiscard]] Index find_group(std::string_view cluster, std::string_view id) const;

  [[nodiscard]] Index host_of(Index group) const { return host_of_[to_size(group)]; }
  [[nodiscard]] Index scope_of(Index group) const { return scope_of_[to_size(group)]; }
  [[nodiscard]] Index set_of(Index group) const { return set_of_[to_size(group)]; }
  [[nodiscard]] static std::size_t to_size(Index index) { return static_cast<std::size_t>(index); }

 private:
  Inventory() = default;
  void sort();
  void index_scopes();
  void index_groups();
  Index physical_view(const std::string& label);

  Fleet fleet_;
  std::vector<Scope> scopes_;  // sorted by (cluster, class name)
  std::vector<SetRef> sets_;   // sorted by (scope, name)
  std::vector<PhysicalView> physical_;
  std::vector<Index> host_of_;
  std::vector<Index> scope_of_;
  std::vector<Index> set_of_;  // kNone when the spec no longer has the set
};

// What is wrong with the fleet as it stands, one sentence each, in order of host, cluster and
// group.
struct Violation {
  std::string rule;     // the constraint's name, e.g. "storage_room"
  std::string subject;  // the host or group
  std::string message;

  bool operator==(const Violation&) const = default;
};
[[nodiscard]] std::vector<Violation> violations(const Inventory& inventory);

}  // namespace fdbpack::place
