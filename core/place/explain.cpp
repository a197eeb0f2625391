// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/place/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace fdbpack::place {
namespace {

std::size_t at(Index index) {
  return static_cast<std::size_t>(index);
}

std::string terms_text(const Terms& terms, bool has_exact) {
  std::string out = fmt::format("{} violations", terms.violations);
  if (has_exact) out += fmt::format(", {} still missing in its AZ", -terms.exact_shortfall);
  out += fmt::format(", spread {}, utilisation {:.6f}, storage {:+.6f}", terms.spread,
                     static_cast<double>(terms.utilisation) / 1e6,
                     static_cast<double>(terms.storage) / 1e6);
  return out;
}

std::string breached_text(const ConstraintSet& breached) {
  std::string out;
  for (std::size_t i = 0; i < kConstraintCount; ++i) {
    const auto constraint = static_cast<Constraint>(i);
    if (!breached.contains(constraint)) continue;
    out += (out.empty() ? "; does not hold: " : ", ") + std::string(to_string(constraint));
  }
  return out;
}

std::string domains_text(const PlacementState& state, Index scope, const Explanation& why) {
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < why.domain_counts.size(); ++k) {
    parts.push_back(fmt::format("{} has {}", state.domain_text(scope, static_cast<int>(k)),
                                why.domain_counts[k]));
  }
  std::string out = fmt::format("fault domains: {}; each gets {} to {}", fmt::join(parts, ", "),
                                why.domain_min, why.domain_max);
  if (why.domain != kNone) out += fmt::format("; chosen {}", state.domain_text(scope, why.domain));
  for (const int domain : why.domains_skipped) {
    out +=
        fmt::format("; {} is no fuller but has no better host", state.domain_text(scope, domain));
  }
  return out;
}

}  // namespace

std::vector<NamedTerm> named_terms(const Terms& terms, bool has_exact) {
  std::vector<NamedTerm> out{{"violations", static_cast<double>(terms.violations)}};
  if (has_exact) out.push_back({"exact_count", static_cast<double>(terms.exact_shortfall)});
  out.push_back({"spread", static_cast<double>(terms.spread)});
  out.push_back({"utilisation", static_cast<double>(terms.utilisation) / 1e6});
  out.push_back({"storage", static_cast<double>(terms.storage) / 1e6});
  return out;
}

std::string explain_refusals(const std::vector<RefusedHost>& refused) {
  std::array<int, kConstraintCount> counts{};
  for (const RefusedHost& host : refused)
    ++counts[static_cast<std::size_t>(host.refusal.constraint)];
  std::string out;
  for (std::size_t i = 0; i < kConstraintCount; ++i) {
    if (counts[i] == 0) continue;
    const std::string_view name = to_string(static_cast<Constraint>(i));
    out += fmt::format("{}{} by {}", out.empty() ? "" : ", ", counts[i], name);
  }
  return out;
}

void add_refused(const PlacementState& state, const Want& want, int domain,
                 const std::vector<RefusedHost>& refused, std::size_t refused_max,
                 std::vector<std::string>& out) {
  if (refused.empty()) return;
  const std::vector<Host>& hosts = state.inventory().hosts();
  out.push_back(fmt::format("refused: {} of {} hosts ({})", refused.size(), hosts.size(),
                            explain_refusals(refused)));
  for (std::size_t i = 0; i < std::min(refused_max, refused.size()); ++i) {
    const RefusedHost& host = refused[i];
    out.push_back(fmt::format("  {}: {}: {}", hosts[at(host.host)].id,
                              to_string(host.refusal.constraint),
                              reason(state, want, domain, host.host, host.refusal)));
  }
  if (refused_max > 0 && refused.size() > refused_max)
    out.push_back(fmt::format("  and {} more", refused.size() - refused_max));
}

std::string headline(const NewGroup& group) {
  const Group& g = group.group;
  std::string out = fmt::format("{} goes to {}: {} set {} of {}", g.id, g.host, g.process_class,
                                g.set, g.cluster);
  if (!group.replaces.empty()) out += fmt::format(", replaces {}", group.replaces);
  if (!g.fault_domain.empty()) out += fmt::format(", {}", g.fault_domain);
  for (const PlacedDisk& disk : g.disks)
    out += fmt::format(", {} MiB on {}", disk.size_mib, to_string(disk.unit));
  out += fmt::format(", port slot {}", g.port_slot);
  for (const Constraint constraint : group.breached) {
    out += fmt::format("; {} does not hold", to_string(constraint));
  }
  return out;
}

std::vector<std::string> explain_text(const PlacementState& state, const Explanation& why,
                                      std::size_t refused_max) {
  const std::vector<Host>& hosts = state.inventory().hosts();
  const SetRef& ref = state.inventory().sets()[at(why.want.set)];
  const bool has_exact = ref.demand->exact.has_value();
  std::vector<std::string> out;
  if (!why.domain_counts.empty()) out.push_back(domains_text(state, ref.scope, why));
  if (why.winner == kNone) {
    out.push_back(fmt::format("no host can take {}", why.want.id));
  } else {
    const Candidate& winner = why.candidates.front();
    const std::string by = why.deciding_term.empty() ? ", the only one"
                           : why.deciding_term == "search"
                               ? ", because its first choice is needed by another group"
                               : " by " + why.deciding_term;
    out.push_back(fmt::format("{} wins{}: {}{}", hosts[at(winner.host)].id, by,
                              terms_text(winner.terms, has_exact), breached_text(winner.breached)));
  }
  if (why.candidates.size() > 1) {
    const Candidate& second = why.candidates[1];
    out.push_back(fmt::format("runner-up {}: {}{}", hosts[at(second.host)].id,
                              terms_text(second.terms, has_exact), breached_text(second.breached)));
  }
  add_refused(state, why.want, why.domain, why.refused, refused_max, out);
  return out;
}

}  // namespace fdbpack::place
