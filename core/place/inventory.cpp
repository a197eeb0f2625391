// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/place/inventory.hpp"

#include "fdbpack/base/check.hpp"
#include "fdbpack/place/order.hpp"
#include "validate.hpp"

#include <algorithm>
#include <tuple>

namespace fdbpack::place {
namespace {

std::size_t at(Index index) {
  return static_cast<std::size_t>(index);
}

template <class Range, class Compare>
Index lower_index(const Range& range, const Compare& compare) {
  const auto found = std::partition_point(range.begin(), range.end(),
                                          [&](const auto& item) { return compare(item) < 0; });
  if (found == range.end() || compare(*found) != 0) return kNone;
  return static_cast<Index>(found - range.begin());
}

int compare_pairs(std::string_view a1, std::string_view a2, std::string_view b1,
                  std::string_view b2) {
  const int first = compare_ids(a1, b1);
  return first != 0 ? first : compare_ids(a2, b2);
}

Scope scope_of_demand(const ClusterDemand& cluster, Index cluster_index, Index class_index) {
  const ClassDemand& demand = cluster.classes[at(class_index)];
  Scope scope;
  scope.cluster = cluster_index;
  scope.process_class = class_index;
  scope.class_name = demand.process_class;
  for (const SetDemand& set : demand.sets)
    scope.desired_groups += set.count;
  return scope;
}

}  // namespace

Result<Inventory> Inventory::build(Fleet fleet) {
  FDBPACK_TRY_VOID(check_values(fleet));
  Inventory inventory;
  inventory.fleet_ = std::move(fleet);
  inventory.sort();
  FDBPACK_TRY_VOID(check_duplicates(inventory.fleet_));
  for (const Group& group : inventory.fleet_.groups)
    FDBPACK_TRY_VOID(check_group(inventory, group));
  inventory.index_scopes();
  inventory.index_groups();
  return inventory;
}

void Inventory::sort() {
  const auto by_id = [](const auto& a, const auto& b) { return compare_ids(a.id, b.id) < 0; };
  std::stable_sort(fleet_.hosts.begin(), fleet_.hosts.end(), by_id);
  for (Host& host : fleet_.hosts) {
    std::stable_sort(host.units.begin(), host.units.end(),
                     [](const Unit& a, const Unit& b) { return a.kind < b.kind; });
  }
  std::stable_sort(fleet_.clusters.begin(), fleet_.clusters.end(),
                   [](const auto& a, const auto& b) { return compare_ids(a.name, b.name) < 0; });
  for (ClusterDemand& cluster : fleet_.clusters) {
    std::stable_sort(cluster.classes.begin(), cluster.classes.end(),
                     [](const auto& a, const auto& b) {
                       return compare_ids(a.process_class, b.process_class) < 0;
                     });
    for (ClassDemand& demand : cluster.classes) {
      std::stable_sort(demand.sets.begin(), demand.sets.end(), [](const auto& a, const auto& b) {
        return compare_ids(a.name, b.name) < 0;
      });
    }
  }
  std::stable_sort(fleet_.groups.begin(), fleet_.groups.end(), [](const Group& a, const Group& b) {
    return compare_pairs(a.cluster, a.id, b.cluster, b.id) < 0;
  });
}

Index Inventory::physical_view(const std::string& label) {
  for (std::size_t i = 0; i < physical_.size(); ++i) {
    if (physical_[i].label == label) return static_cast<Index>(i);
  }
  PhysicalView view;
  view.label = label;
  view.domain_of.assign(hosts().size(), kNone);
  const bool is_host = label == "host";
  for (const Host& host : hosts()) {
    if (is_host) view.names.push_back(host.id);
    if (const auto found = host.labels.find(label); !is_host && found != host.labels.end()) {
      view.names.push_back(found->second);
    }
  }
  std::sort(view.names.begin(), view.names.end(), IdLess{});
  view.names.erase(std::unique(view.names.begin(), view.names.end()), view.names.end());
  for (std::size_t h = 0; h < hosts().size(); ++h) {
    const auto found = hosts()[h].labels.find(label);
    if (!is_host && found == hosts()[h].labels.end()) continue;
    const std::string& name = is_host ? hosts()[h].id : found->second;
    view.domain_of[h] =
        lower_index(view.names, [&](const auto& n) { return compare_ids(n, name); });
  }
  view.members.resize(view.names.size());
  for (std::size_t h = 0; h < hosts().size(); ++h) {
    if (view.domain_of[h] != kNone)
      view.members[at(view.domain_of[h])].push_back(static_cast<Index>(h));
  }
  physical_.push_back(std::move(view));
  return static_cast<Index>(physical_.size() - 1);
}

void Inventory::index_scopes() {
  for (std::size_t c = 0; c < clusters().size(); ++c) {
    const ClusterDemand& cluster = clusters()[c];
    for (std::size_t k = 0; k < cluster.classes.size(); ++k) {
      scopes_.push_back(scope_of_demand(cluster, static_cast<Index>(c), static_cast<Index>(k)));
    }
  }
  // Groups of a class that the spec no longer has still take room and keep their fault domain.
  for (const Group& group : groups()) {
    const Index cluster = find_cluster(group.cluster);
    const bool is_known = std::any_of(scopes_.begin(), scopes_.end(), [&](const Scope& scope) {
      return scope.cluster == cluster && scope.class_name == group.process_class;
    });
    if (is_known) continue;
    Scope scope;
    scope.cluster = cluster;
    scope.class_name = group.process_class;
    scopes_.push_back(std::move(scope));
  }
  std::sort(scopes_.begin(), scopes_.end(), [](const Scope& a, const Scope& b) {
    return a.cluster != b.cluster ? a.cluster < b.cluster
                                  : compare_ids(a.class_name, b.class_name) < 0;
  });
  for (std::size_t s = 0; s < scopes_.size(); ++s) {
    Scope& scope = scopes_[s];
    const ClusterDemand& cluster = clusters()[at(scope.cluster)];
    scope.domains = desired_domains(cluster);
    scope.is_required = cluster.distribution.is_enabled && cluster.distribution.is_required;
    scope.physical = physical_view(cluster.distribution.physical_domain);
    if (scope.process_class == kNone) continue;
    for (const SetDemand& set : cluster.classes[at(scope.process_class)].sets) {
      sets_.push_back(SetRef{static_cast<Index>(s), &set});
    }
  }
}

void Inventory::index_groups() {
  for (const Group& group : groups()) {
    host_of_.push_back(find_host(group.host));
    scope_of_.push_back(find_scope(group.cluster, group.process_class));
    set_of_.push_back(find_set(group.cluster, group.process_class, group.set));
    FDBPACK_CHECK(host_of_.back() != kNone && scope_of_.back() != kNone);
  }
}

Index Inventory::find_host(std::string_view id) const {
  return lower_index(hosts(), [&](const Host& host) { return compare_ids(host.id, id); });
}

Index Inventory::find_cluster(std::string_view name) const {
  return lower_index(clusters(), [&](const ClusterDemand& c) { return compare_ids(c.name, name); });
}

Index Inventory::find_scope(std::string_view cluster, std::string_view process_class) const {
  const Index index = find_cluster(cluster);
  return lower_index(scopes_, [&](const Scope& scope) {
    if (scope.cluster != index) return scope.cluster < index ? -1 : 1;
    return compare_ids(scope.class_name, process_class);
  });
}

Index Inventory::find_set(std::string_view cluster, std::string_view process_class,
                          std::string_view set) const {
  const Index scope = find_scope(cluster, process_class);
  return lower_index(sets_, [&](const SetRef& ref) {
    if (ref.scope != scope) return ref.scope < scope ? -1 : 1;
    return compare_ids(ref.demand->name, set);
  });
}

Index Inventory::find_group(std::string_view cluster, std::string_view id) const {
  return lower_index(groups(), [&](const Group& group) {
    return compare_pairs(group.cluster, group.id, cluster, id);
  });
}

}  // namespace fdbpack::place
