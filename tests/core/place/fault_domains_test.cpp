// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/place/fault_domains.hpp"

#include "fdbpack/base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace fdbpack::place {
namespace {

using Ids = std::vector<std::string>;

std::vector<DomainMember> members(const std::vector<int>& domains) {
  std::vector<DomainMember> out;
  for (std::size_t i = 0; i < domains.size(); ++i) {
    out.push_back({"storage-" + std::to_string(i + 1), domains[i], false});
  }
  return out;
}

TEST(FaultDomains, BoundsAreFloorAndCeil) {
  EXPECT_EQ(domain_bounds(10, 4), (DomainBounds{2, 3}));
  EXPECT_EQ(domain_bounds(6, 3), (DomainBounds{2, 2}));
  EXPECT_EQ(domain_bounds(6, 4), (DomainBounds{1, 2}));
  EXPECT_EQ(domain_bounds(2, 3), (DomainBounds{0, 1}));
  EXPECT_EQ(domain_bounds(0, 3), (DomainBounds{0, 0}));
}

TEST(FaultDomains, NamesCarryClassAndNumber) {
  EXPECT_EQ(domain_name("storage", 0), "storage-0");
  EXPECT_EQ(domain_number("storage", "storage-12"), 12);
  EXPECT_EQ(domain_number("storage", "log-1"), -1);
  EXPECT_EQ(domain_number("storage", "storage-"), -1);
  EXPECT_EQ(domain_number("storage", "storage-x"), -1);
  EXPECT_EQ(domain_number("storage", "storage2-1"), -1);
}

// 10 groups over 4 domains: max is 3. Zone 1 has 4 and gives up one; it goes to the least full.
TEST(FaultDomains, OverfullDomainGivesUpWhatIsAboveMax) {
  const DomainChange change = balance_domains(members({0, 0, 0, 0, 1, 1, 2, 2, 3, 3}), 10, 4);
  EXPECT_EQ(change.replace, (Ids{"storage-4"}));
  EXPECT_EQ(change.add, (std::vector<int>{1}));
}

// 6 pods in 3 zones, 3 -> 2: pods 3 and 6 of zone 3 are replaced, pod 7 goes to zone 1 and pod 8 to
// zone 2.
TEST(FaultDomains, FewerDomainsReplaceOnlyTheSurplusDomain) {
  const DomainChange change = balance_domains(members({0, 1, 2, 0, 1, 2}), 6, 2);
  EXPECT_EQ(change.replace, (Ids{"storage-3", "storage-6"}));
  EXPECT_EQ(change.add, (std::vector<int>{0, 1}));
}

// 6 pods in 3 zones, 3 -> 4: one victim, spawned again in the new zone 4.
TEST(FaultDomains, MoreDomainsReplaceOnlyAsManyAsBalanceNeeds) {
  const DomainChange change = balance_domains(members({0, 1, 2, 0, 1, 2}), 6, 4);
  EXPECT_TRUE(change.replace.empty());
  EXPECT_TRUE(change.add.empty());
  EXPECT_EQ(change.shift, (std::vector<DomainShift>{{"storage-6", 3}}));
}

TEST(FaultDomains, NewGroupsGoToTheLeastFull) {
  const DomainChange change = balance_domains(members({0, 0, 1}), 7, 3);
  EXPECT_TRUE(change.replace.empty());
  EXPECT_EQ(change.add, (std::vector<int>{2, 1, 2, 0}));
}

TEST(FaultDomains, FewerGroupsThanDomainsIsFine) {
  const DomainChange change = balance_domains({}, 2, 5);
  EXPECT_EQ(change.add, (std::vector<int>{0, 1}));
}

TEST(FaultDomains, NewGroupsFillAShortDomainBeforeAnythingIsReplaced) {
  const DomainChange change = balance_domains(members({0, 0, 1, 1}), 6, 3);
  EXPECT_TRUE(change.replace.empty());
  EXPECT_EQ(change.add, (std::vector<int>{2, 2}));
}

TEST(FaultDomains, GroupInTroubleIsTheFirstVictim) {
  std::vector<DomainMember> all = members({0, 0, 0, 1});
  all[0].is_preferred_victim = true;
  EXPECT_EQ(balance_domains(all, 4, 2).replace, (Ids{"storage-1"}));
}

TEST(FaultDomains, ZonesFromBeforePackingAreReplaced) {
  const DomainChange change = balance_domains(members({-1, 0}), 2, 2);
  EXPECT_EQ(change.replace, (Ids{"storage-1"}));
  EXPECT_EQ(change.add, (std::vector<int>{1}));
}

TEST(FaultDomains, ShrinkingTakesFromTheFullest) {
  EXPECT_EQ(shrink(members({0, 0, 0, 1, 1, 2}), 2, 3), (Ids{"storage-3", "storage-5"}));
}

// Whatever the start: afterwards every domain is within one of every other, nothing is replaced
// that did not have to be, and a second run changes nothing.
TEST(FaultDomains, BalanceIsWithinOneAndIdempotent) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const int domains = static_cast<int>(random.between(1, 6));
    const int desired = static_cast<int>(random.between(0, 14));
    std::vector<int> start;
    const auto size = random.below(static_cast<std::uint64_t>(desired) + 1);
    for (std::uint64_t i = 0; i < size; ++i)
      start.push_back(static_cast<int>(random.between(-1, domains)));
    const std::vector<DomainMember> before = members(start);
    const DomainChange change = balance_domains(before, desired, domains);

    std::vector<DomainMember> after;
    for (const DomainMember& member : before) {
      if (!std::count(change.replace.begin(), change.replace.end(), member.id))
        after.push_back(member);
    }
    const DomainBounds bounds = domain_bounds(desired, domains);
    std::vector<int> counts(static_cast<std::size_t>(domains));
    int forced = 0;
    for (const DomainMember& member : before) {
      const bool is_bound = member.domain >= 0 && member.domain < domains;
      forced += is_bound ? 0 : 1;
      if (is_bound) ++counts[static_cast<std::size_t>(member.domain)];
    }
    int surplus = 0;
    int deficit = 0;
    for (const int count : counts) {
      surplus += std::max(0, count - bounds.max);
      deficit += std::max(0, bounds.min - count);
    }
    const int vacancies = desired - static_cast<int>(before.size()) + forced + surplus;
    EXPECT_EQ(static_cast<int>(change.replace.size()), forced + surplus);
    EXPECT_EQ(static_cast<int>(change.shift.size()), std::max(0, deficit - vacancies));

    for (std::size_t i = 0; i < change.add.size(); ++i) {
      after.push_back({"storage-" + std::to_string(100 + i), change.add[i], false});
    }
    for (const DomainShift& shift : change.shift) {
      for (DomainMember& member : after) {
        if (member.id == shift.id)
          member = {"storage-" + std::to_string(200 + shift.to), shift.to, false};
      }
    }
    std::fill(counts.begin(), counts.end(), 0);
    for (const DomainMember& member : after)
      ++counts[static_cast<std::size_t>(member.domain)];
    EXPECT_EQ(static_cast<int>(after.size()), desired);
    EXPECT_LE(*std::max_element(counts.begin(), counts.end()), bounds.max);
    EXPECT_GE(*std::min_element(counts.begin(), counts.end()), bounds.min);
    EXPECT_EQ(balance_domains(after, desired, domains), DomainChange{});
  }
}

}  // namespace
}  // namespace fdbpack::place
