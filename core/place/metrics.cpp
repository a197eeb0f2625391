// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/place/metrics.hpp"

namespace fdbpack::place {

Metrics measure(const PlacementState& state) {
  Metrics out;
  Deviation cpu;
  Deviation memory;
  std::vector<Deviation> kinds(state.kinds().size());
  for (std::size_t h = 0; h < state.hosts().size(); ++h) {
    const Host& host = state.inventory().hosts()[h];
    const HostState& now = state.hosts()[h];
    if (host.is_unreachable || host.is_draining) continue;
    const auto share = [](std::int64_t free, std::int64_t total) {
      return static_cast<double>(total - free) / static_cast<double>(total);
    };
    if (host.cpu_milli > 0) cpu.insert(share(now.cpu_free, host.cpu_milli));
    if (host.memory_mib > 0) memory.insert(share(now.memory_free, host.memory_mib));
    for (Index u = now.unit_begin; u < now.unit_end; ++u) {
      const UnitState& unit = state.units()[static_cast<std::size_t>(u)];
      if (unit.total_mib <= 0) continue;
      const double free = static_cast<double>(unit.room_mib) / static_cast<double>(unit.total_mib);
      kinds[static_cast<std::size_t>(unit.kind)].insert(free);
    }
  }
  out.cpu = cpu.population();
  out.memory = memory.population();

  for (const Deviation& kind : kinds)
    out.storage += kind.sample();
  if (!kinds.empty()) out.storage /= static_cast<double>(kinds.size());

  for (std::size_t s = 0; s < state.scopes().size(); ++s) {
    if (state.inventory().scopes()[s].domains == 0) continue;
    for (const auto& here : state.scopes()[s].on_physical) {
      if (here.size() > 1) out.violations += static_cast<int>(here.size()) - 1;
    }
  }
  return out;
}

}  // namespace fdbpack::place
