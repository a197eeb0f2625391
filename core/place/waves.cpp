// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/place/waves.hpp"

#include <algorithm>
#include <map>
#include <string_view>

namespace fdbpack::place {
namespace {

std::size_t at(Index index) {
  return static_cast<std::size_t>(index);
}

// The zones of one cluster that a host takes down, sorted.
struct InCluster {
  Index cluster = kNone;
  std::vector<int> zones;  // numbered per cluster

  auto operator<=>(const InCluster&) const = default;
};
using Zones = std::vector<InCluster>;  // by cluster

bool includes(const std::vector<int>& a, const std::vector<int>& b) {
  return std::includes(a.begin(), a.end(), b.begin(), b.end());
}

struct OpenWave {
  std::vector<std::vector<int>> zones;  // by cluster, those of the host that takes most
  std::vector<Index> hosts;

  [[nodiscard]] bool accepts(const Zones& other) const {
    return std::all_of(other.begin(), other.end(), [&](const InCluster& entry) {
      const std::vector<int>& mine = zones[at(entry.cluster)];
      return includes(mine, entry.zones) || includes(entry.zones, mine);
    });
  }
  void add(Index host, const Zones& other) {
    hosts.push_back(host);
    for (const InCluster& entry : other) {
      std::vector<int>& mine = zones[at(entry.cluster)];
      if (entry.zones.size() > mine.size()) mine = entry.zones;
    }
  }
};

// The names point into the inventory.
struct ZoneNames {
  std::vector<std::map<std::string_view, int>> numbers;  // by cluster
  std::vector<std::vector<std::string_view>> names;

  explicit ZoneNames(std::size_t clusters) : numbers(clusters), names(clusters) {}
  int number(Index cluster, std::string_view name) {
    auto& known = numbers[at(cluster)];
    const auto [entry, is_new] = known.try_emplace(name, static_cast<int>(known.size()));
    if (is_new) names[at(cluster)].push_back(name);
    return entry->second;
  }
};

// A group's logical domain, or its physical one, or its host where that has no name.
std::string_view zone_of(const Inventory& inventory, Index g) {
  const Group& group = inventory.groups()[at(g)];
  const Scope& scope = inventory.scopes()[at(inventory.scope_of(g))];
  if (scope.domains > 0 && !group.fault_domain.empty()) return group.fault_domain;
  const PhysicalView& view = inventory.physical()[at(scope.physical)];
  const Index domain = view.domain_of[at(inventory.host_of(g))];
  return domain == kNone ? std::string_view(group.host) : view.names[at(domain)];
}

std::vector<Zones> zones_by_host(const Inventory& inventory, ZoneNames& names) {
  std::vector<Zones> out(inventory.hosts().size());
  // Groups are sorted by cluster, so the clusters of each host come in order.
  for (std::size_t g = 0; g < inventory.groups().size(); ++g) {
    const auto index = static_cast<Index>(g);
    const Index cluster = inventory.scopes()[at(inventory.scope_of(index))].cluster;
    Zones& here = out[at(inventory.host_of(index))];
    if (here.empty() || here.back().cluster != cluster) here.push_back({cluster, {}});
    here.back().zones.push_back(names.number(cluster, zone_of(inventory, index)));
  }
  for (Zones& zones : out) {
    for (InCluster& entry : zones) {
      std::sort(entry.zones.begin(), entry.zones.end());
      entry.zones.erase(std::unique(entry.zones.begin(), entry.zones.end()), entry.zones.end());
    }
  }
  return out;
}

// First fit in the given order.
std::vector<OpenWave> fill(const std::vector<Zones>& zones, const std::vector<Index>& order,
                           std::size_t clusters, int hosts_max) {
  std::vector<OpenWave> out;
  for (const Index host : order) {
    const auto fits = std::find_if(out.begin(), out.end(), [&](const OpenWave& wave) {
      const bool is_full = hosts_max > 0 && static_cast<int>(wave.hosts.size()) >= hosts_max;
      return !is_full && wave.accepts(zones[at(host)]);
    });
    if (fits != out.end()) {
      fits->add(host, zones[at(host)]);
      continue;
    }
    out.push_back({std::vector<std::vector<int>>(clusters), {}});
    out.back().add(host, zones[at(host)]);
  }
  return out;
}

std::size_t weight(const Zones& zones) {
  std::size_t sum = 0;
  for (const InCluster& entry : zones)
    sum += entry.zones.size();
  return sum;
}

}  // namespace

std::vector<Wave> waves(const Inventory& inventory, const WavesOptions& options) {
  const std::size_t clusters = inventory.clusters().size();
  ZoneNames names(clusters);
  const std::vector<Zones> zones = zones_by_host(inventory, names);
  std::vector<Index> order;
  for (std::size_t h = 0; h < zones.size(); ++h)
    order.push_back(static_cast<Index>(h));
  // Two orders are tried and the one with fewer waves is kept: hosts of most domains first, and
  // hosts of the same domains together.
  std::vector<std::size_t> weights;
  for (const Zones& one : zones)
    weights.push_back(weight(one));
  std::vector<Index> heavy = order;
  std::stable_sort(heavy.begin(), heavy.end(),
                   [&](Index a, Index b) { return weights[at(a)] > weights[at(b)]; });
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return zones[at(a)] < zones[at(b)]; });
  std::vector<OpenWave> best = fill(zones, heavy, clusters, options.hosts_max);
  if (std::vector<OpenWave> other = fill(zones, order, clusters, options.hosts_max);
      other.size() < best.size()) {
    best = std::move(other);
  }
  for (OpenWave& wave : best)
    std::sort(wave.hosts.begin(), wave.hosts.end());
  std::stable_sort(best.begin(), best.end(), [](const OpenWave& a, const OpenWave& b) {
    return a.hosts.size() > b.hosts.size();
  });
  std::vector<Wave> out;
  for (const OpenWave& wave : best) {
    Wave named;
    for (const Index host : wave.hosts)
      named.hosts.push_back(inventory.hosts()[at(host)].id);
    for (std::size_t c = 0; c < clusters; ++c) {
      for (const int zone : wave.zones[c]) {
        named.zones.push_back(inventory.clusters()[c].name + "/" +
                              std::string(names.names[c][at(zone)]));
      }
    }
    std::sort(named.zones.begin(), named.zones.end());
    out.push_back(std::move(named));
  }
  return out;
}

}  // namespace fdbpack::place
