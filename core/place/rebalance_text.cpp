// SPDX-License-Identifier: Apache-2.0
//
// A rebalance in words, and carried out.
#include "fdbpack/place/explain.hpp"
#include "fdbpack/place/rebalance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace fdbpack::place {
namespace {

std::size_t at(Index index) {
  return static_cast<std::size_t>(index);
}

std::string terms_text(const MoveTerms& terms) {
  return fmt::format("violations {:+}, spread {:+}, score {:.6f}", terms.violations, terms.spread,
                     terms.score);
}

std::string verdict(const std::string& deciding_term) {
  if (deciding_term == "swap") return "where its partner of the swap is";
  if (deciding_term == "only") return "the only host that can take it";
  if (deciding_term == "search") return "chosen with the other moves in view";
  return "chosen by " + deciding_term;
}

// What groups wrote is free again where they were, and is taken where they are.
void write(Host& host, const PlacedDisk& disk, std::int64_t sign) {
  for (Unit& unit : host.units) {
    if (unit.kind != disk.unit) continue;
    unit.free_mib =
        std::clamp<std::int64_t>(unit.free_mib - sign * disk.used_mib, 0, unit.total_mib);
  }
}

}  // namespace

std::vector<std::string> explain_text(const PlacementState& state, const Replacement& move,
                                      std::size_t refused_max) {
  const MoveExplanation& why = move.explanation;
  const std::vector<Host>& hosts = state.inventory().hosts();
  std::vector<std::string> out;
  out.push_back(
      fmt::format("{} of {} on {} becomes {} on {} for {}: score {:.6f} -> {:.6f}, {} MiB", move.id,
                  move.cluster, move.from, move.new_id, move.to, move.why, why.score, move.score,
                  move.data_mib));
  for (std::size_t i = 0; i < std::min<std::size_t>(2, why.candidates.size()); ++i) {
    const MoveCandidate& candidate = why.candidates[i];
    const std::string role =
        i == 0 ? fmt::format("{}, {}", hosts[at(candidate.host)].id, verdict(why.deciding_term))
               : fmt::format("runner-up {}", hosts[at(candidate.host)].id);
    out.push_back(fmt::format("{}: {}", role, terms_text(candidate.terms)));
  }
  add_refused(state, why.want, why.want.domain, why.refused, refused_max, out);
  return out;
}

Fleet apply(const Fleet& fleet, const Rebalance& rebalance) {
  Fleet out = fleet;
  std::map<std::string, Host*> hosts;
  for (Host& host : out.hosts)
    hosts.emplace(host.id, &host);
  std::map<std::pair<std::string, std::string>, Group> groups;
  for (Group& group : out.groups)
    groups.emplace(std::pair(group.cluster, group.id), std::move(group));
  for (const Replacement& move : rebalance.moves) {
    auto old = groups.extract({move.cluster, move.id});
    Group next = move.group;
    for (std::size_t d = 0; d < old.mapped().disks.size(); ++d) {
      const PlacedDisk& disk = old.mapped().disks[d];
      write(*hosts.at(old.mapped().host), disk, -1);
      if (!next.disks.empty())
        next.disks[std::min(d, next.disks.size() - 1)].used_mib += disk.used_mib;
    }
    for (const PlacedDisk& disk : next.disks)
      write(*hosts.at(next.host), disk, 1);
    next.is_reserved = false;
    groups.emplace(std::pair(next.cluster, next.id), std::move(next));
  }
  out.groups.clear();
  for (auto& [key, group] : groups)
    out.groups.push_back(std::move(group));
  return out;
}

}  // namespace fdbpack::place
