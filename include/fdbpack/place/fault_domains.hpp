// SPDX-License-Identifier: Apache-2.0
//
// Logical fault domains: how many groups of a class each gets. Values in, values out; hosts play no
// part here.
//
//   min = floor(desired groups / desired domains)      max = ceil(desired groups / desired domains)
//
//   10 groups over 4 domains   min 2, max 3; a domain with 4 gives up 1
//   6 groups, 3 -> 2 domains   the third domain's two groups are replaced, one into each of the
//   others 6 groups, 3 -> 4 domains   min 1, max 2: one group is replaced, into the new domain
//
// A group is bound to its domain for life: a surplus group is replaced by a new one elsewhere,
// never moved. Groups marked for removal do not count. Fewer groups than domains is fine: some
// domains stay empty.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fdbpack::place {

struct DomainBounds {
  int min = 0;
  int max = 0;

  bool operator==(const DomainBounds&) const = default;
};
// `domains` > 0.
[[nodiscard]] DomainBounds domain_bounds(int desired_groups, int domains);

[[nodiscard]] std::string domain_name(std::string_view process_class, int domain);  // storage-0
// The number in `<class>-<k>`, or -1 when the name is not one of this class.
[[nodiscard]] int domain_number(std::string_view process_class, std::string_view name);

struct DomainMember {
  std::string id;
  int domain = -1;  // -1: bound to no domain of this class, e.g. to a host name from before packing
  bool is_preferred_victim = false;  // in trouble anyway: goes first
  bool is_fixed = false;             // counts, but cannot be replaced
};

// A group that is replaced although its domain is not overfull, because another is short of `min`.
struct DomainShift {
  std::string id;
  int to = -1;  // the domain of its replacement
  bool operator==(const DomainShift&) const = default;
};

struct DomainChange {
  std::vector<std::string> replace;  // sorted by ID: beyond `max`, or bound to no desired domain
  std::vector<int> add;              // the domain of each new group, in the order they are made
  std::vector<DomainShift> shift;
  bool operator==(const DomainChange&) const = default;
};
// What brings `members` (those not marked for removal) to `desired_groups` in balance with the
// fewest replacements. Groups above `desired_groups` are not chosen here: shrinking is the caller's
// choice (shrink()).
[[nodiscard]] DomainChange balance_domains(const std::vector<DomainMember>& members,
                                           int desired_groups, int domains);

// Which `surplus` members go when a class shrinks: from the fullest domain each time, so that
// balance is kept.
[[nodiscard]] std::vector<std::string> shrink(const std::vector<DomainMember>& members, int surplus,
                                              int domains);

// The least full of `counts`; ties go to the lowest number. kNone (-1) when every one has `max`
// already.
[[nodiscard]] int least_full(const std::vector<int>& counts, int max);

}  // namespace fdbpack::place
