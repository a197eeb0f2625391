// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/place/waves.hpp"

#include "fdbpack/place/state.hpp"

#include <algorithm>
#include <map>

namespace fdbpack::place {
namespace {

std::size_t at(Index index) {
  return static_cast<std::size_t>(index);
}

// cluster -> sorted zones, numbered per cluster.
using Zones = std::map<Index, std::vector<int>>;

bool includes(const std::vector<int>& a, const std::vector<int>& b) {
  return std::includes(a.begin(), a.end(), b.begin(), b.end());
}

struct OpenWave {
  Zones zones;  // per cluster, those of the host that takes most
  std::vector<Index> hosts;

  [[nodiscard]] bool accepts(const Zones& other) const {
    return std::all_of(other.begin(), other.end(), [&](const auto& entry) {
      const auto mine = zones.find(entry.first);
      return mine == zones.end() || includes(mine->second, entry.second) ||
             includes(entry.second, mine->second);
    });
  }
  void add(Index host, const Zones& other) {
    hosts.push_back(host);
    for (const auto& [cluster, list] : other) {
      std::vector<int>& mine = zones[cluster];
      if (list.size() > mine.size()) mine = list;
    }
  }
};

struct ZoneNames {
  std::vector<std::map<std::string, int>> numbers;  // by cluster
  std::vector<std::vector<std::string>> names;

  int number(Index cluster, const std::string& name) {
    auto& known = numbers[at(cluster)];
    const auto [entry, is_new] = known.try_emplace(name, static_cast<int>(known.size()));
    if (is_new) names[at(cluster)].push_back(name);
    return entry->second;
  }
};

std::vector<Zones> zones_by_host(const Inventory& inventory, ZoneNames& names) {
  const PlacementState state(inventory);
  std::vector<Zones> out(inventory.hosts().size());
  names.numbers.resize(inventory.clusters().size());
  names.names.resize(inventory.clusters().size());
  for (std::size_t g = 0; g < inventory.groups().size(); ++g) {
    const PlacedGroup& group = state.groups()[g];
    const Index cluster = inventory.scopes()[at(group.scope)].cluster;
    const int zone = names.number(cluster, state.domain_text(group.scope, group.domain));
    out[at(group.host)][cluster].push_back(zone);
  }
  for (Zones& zones : out) {
    for (auto& [cluster, list] : zones) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
  }
  return out;
}

// First fit in the given order.
std::vector<OpenWave> fill(const std::vector<Zones>& zones, const std::vector<Index>& order,
                           int hosts_max) {
  std::vector<OpenWave> out;
  for (const Index host : order) {
    const auto fits = std::find_if(out.begin(), out.end(), [&](const OpenWave& wave) {
      const bool is_full = hosts_max > 0 && static_cast<int>(wave.hosts.size()) >= hosts_max;
      return !is_full && wave.accepts(zones[at(host)]);
    });
    OpenWave& wave = fits == out.end() ? out.emplace_back() : *fits;
    wave.add(host, zones[at(host)]);
  }
  return out;
}

std::size_t weight(const Zones& zones) {
  std::size_t sum = 0;
  for (const auto& [cluster, list] : zones)
    sum += list.size();
  return sum;
}

}  // namespace

std::vector<Wave> waves(const Inventory& inventory, const WavesOptions& options) {
  ZoneNames names;
  const std::vector<Zones> zones = zones_by_host(inventory, names);
  std::vector<Index> order;
  for (std::size_t h = 0; h < zones.size(); ++h)
    order.push_back(static_cast<Index>(h));
  // Two orders are tried and the one with fewer waves is kept: hosts of most domains first, and
  // hosts of the same domains together.
  std::vector<Index> heavy = order;
  std::stable_sort(heavy.begin(), heavy.end(),
                   [&](Index a, Index b) { return weight(zones[at(a)]) > weight(zones[at(b)]); });
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return zones[at(a)] < zones[at(b)]; });
  std::vector<OpenWave> best = fill(zones, heavy, options.hosts_max);
  if (std::vector<OpenWave> other = fill(zones, order, options.hosts_max);
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
    for (const auto& [cluster, list] : wave.zones) {
      for (const int zone : list) {
        named.zones.push_back(inventory.clusters()[at(cluster)].name + "/" +
                              names.names[at(cluster)][static_cast<std::size_t>(zone)]);
      }
    }
    std::sort(named.zones.begin(), named.zones.end());
    out.push_back(std::move(named));
  }
  return out;
}

}  // namespace fdbpack::place
