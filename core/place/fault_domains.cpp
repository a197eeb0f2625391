// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/place/fault_domains.hpp"

#include "fdbpack/base/check.hpp"
#include "fdbpack/base/text.hpp"
#include "fdbpack/place/order.hpp"

#include <algorithm>

namespace fdbpack::place {
namespace {

using Members = std::vector<const DomainMember*>;

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

// Victims are taken from the back: first those in trouble, then the youngest (highest ID).
void sort_for_victims(Members& members) {
  std::sort(members.begin(), members.end(), [](const DomainMember* a, const DomainMember* b) {
    if (a->is_fixed != b->is_fixed) return a->is_fixed;
    if (a->is_preferred_victim != b->is_preferred_victim) return b->is_preferred_victim;
    return compare_ids(a->id, b->id) < 0;
  });
}

std::vector<Members> by_domain(const std::vector<DomainMember>& members, int domains,
                               Members& unbound) {
  std::vector<Members> result(at(domains));
  for (const DomainMember& member : members) {
    const bool is_bound = member.domain >= 0 && member.domain < domains;
    (is_bound ? result[at(member.domain)] : unbound).push_back(&member);
  }
  for (Members& domain : result)
    sort_for_victims(domain);
  sort_for_victims(unbound);
  return result;
}

bool has_victim(const Members& members) {
  return !members.empty() && !members.back()->is_fixed;
}

// The fullest domain; among equals one whose next victim is in trouble, then the highest number.
int fullest(const std::vector<Members>& domains, const std::vector<int>& counts) {
  const auto in_trouble = [&](std::size_t k) {
    return has_victim(domains[k]) && domains[k].back()->is_preferred_victim;
  };
  int best = -1;
  for (std::size_t k = 0; k < domains.size(); ++k) {
    if (!has_victim(domains[k])) continue;
    const bool is_better = best < 0 || counts[k] > counts[at(best)] ||
                           (counts[k] == counts[at(best)] && in_trouble(k) >= in_trouble(at(best)));
    if (is_better) best = static_cast<int>(k);
  }
  return best;
}

std::string take_victim(Members& domain, int& count) {
  std::string id = domain.back()->id;
  domain.pop_back();
  --count;
  return id;
}

}  // namespace

DomainBounds domain_bounds(int desired_groups, int domains) {
  FDBPACK_CHECK(domains > 0 && desired_groups >= 0);
  return {desired_groups / domains, (desired_groups + domains - 1) / domains};
}

std::string domain_name(std::string_view process_class, int domain) {
  return std::string(process_class) + "-" + std::to_string(domain);
}

int domain_number(std::string_view process_class, std::string_view name) {
  if (name.size() <= process_class.size() + 1 || !name.starts_with(process_class)) return -1;
  if (name[process_class.size()] != '-') return -1;
  const auto number = text::parse_decimal(name.substr(process_class.size() + 1));
  if (!number || *number > 1'000'000) return -1;
  return static_cast<int>(*number);
}

int least_full(const std::vector<int>& counts, int max) {
  const auto found = std::min_element(counts.begin(), counts.end());
  if (found == counts.end() || *found >= max) return -1;
  return static_cast<int>(found - counts.begin());
}

DomainChange balance_domains(const std::vector<DomainMember>& members, int desired_groups,
                             int domains) {
  const DomainBounds bounds = domain_bounds(desired_groups, domains);
  DomainChange change;
  Members unbound;
  std::vector<Members> bound = by_domain(members, domains, unbound);
  int alive = 0;
  for (const DomainMember* member : unbound) {
    if (member->is_fixed) ++alive;
    if (!member->is_fixed) change.replace.push_back(member->id);
  }
  std::vector<int> counts(at(domains));
  for (std::size_t k = 0; k < bound.size(); ++k) {
    counts[k] = static_cast<int>(bound[k].size());
    while (counts[k] > bounds.max && has_victim(bound[k]))
      change.replace.push_back(take_victim(bound[k], counts[k]));
    alive += counts[k];
  }
  for (; alive < desired_groups; ++alive) {
    const int domain = least_full(counts, bounds.max);
    if (domain < 0) break;
    ++counts[at(domain)];
    change.add.push_back(domain);
  }
  // A domain that is still short of `min` takes over from the fullest: only as many as balance
  // needs.
  for (int domain = least_full(counts, bounds.min); domain >= 0 && alive == desired_groups;
       domain = least_full(counts, bounds.min)) {
    const int source = fullest(bound, counts);
    if (source < 0 || counts[at(source)] <= bounds.min) break;
    change.shift.push_back({take_victim(bound[at(source)], counts[at(source)]), domain});
    ++counts[at(domain)];
  }
  std::sort(change.replace.begin(), change.replace.end(), IdLess{});
  return change;
}

std::vector<std::string> shrink(const std::vector<DomainMember>& members, int surplus,
                                int domains) {
  std::vector<std::string> out;
  Members unbound;
  std::vector<Members> bound = by_domain(members, std::max(domains, 1), unbound);
  std::vector<int> counts(bound.size());
  for (std::size_t k = 0; k < bound.size(); ++k)
    counts[k] = static_cast<int>(bound[k].size());
  for (int i = 0; i < surplus; ++i) {
    if (!unbound.empty()) {
      out.push_back(unbound.back()->id);
      unbound.pop_back();
      continue;
    }
    const int source = fullest(bound, counts);
    if (source < 0) break;
    out.push_back(take_victim(bound[at(source)], counts[at(source)]));
  }
  std::sort(out.begin(), out.end(), IdLess{});
  return out;
}

}  // namespace fdbpack::place
