// SPDX-License-Identifier: Apache-2.0
//
// What the loss of a physical domain would mean.
#include "fdbpack/place/capacity.hpp"
#include "fdbpack/place/explain.hpp"
#include "fdbpack/place/order.hpp"
#include "search.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fdbpack::place {
namespace {

// Host verdicts that searches may ask for, over all losses and for one.
constexpr std::size_t kBudget = 12'800'000;
constexpr std::size_t kBudgetMin = 5'000;
constexpr std::size_t kBudgetMax = 200'000;

std::size_t at(Index index) {
  return static_cast<std::size_t>(index);
}

std::vector<std::vector<Index>> groups_by_host(const PlacementState& state) {
  std::vector<std::vector<Index>> out(state.hosts().size());
  for (std::size_t g = 0; g < state.groups().size(); ++g) {
    const PlacedGroup& group = state.groups()[g];
    const bool is_needed = group.is_present && !group.is_removing && group.set != kNone;
    if (is_needed) out[at(group.host)].push_back(static_cast<Index>(g));
  }
  return out;
}

// The hosts and all that is on them are gone. What was there is wanted anew, as by a plan: in its
// set, in whatever logical domain has the least.
std::vector<Want> lose(Planner& planner, const std::vector<Index>& hosts,
                       const std::vector<std::vector<Index>>& groups_on) {
  std::vector<Want> wants;
  for (const Index host : hosts) {
    planner.close(host);
    for (const Index g : groups_on[at(host)]) {
      Want want;
      want.set = planner.state().groups()[at(g)].set;
      want.id = planner.state().groups()[at(g)].id;
      want.replaces = g;
      wants.push_back(std::move(want));
      planner.take_out(g);
    }
  }
  sort_by_pickiness(planner.state(), wants);
  return wants;
}

// Why the first group that stays without a host has none, with all others placed.
void explain_first(Planner& planner, const std::vector<Want>& wants, Choice choice, Loss& loss) {
  const Want* first = nullptr;
  for (std::size_t i = 0; i < wants.size(); ++i) {
    if (choice.decisions[i]) {
      planner.accept(*choice.decisions[i]);
    } else if (first == nullptr) {
      first = &wants[i];
    }
  }
  const Index scope = planner.state().groups()[at(first->replaces)].scope;
  const Inventory& inventory = planner.state().inventory();
  loss.first_unplaced =
      inventory.clusters()[at(inventory.scopes()[at(scope)].cluster)].name + "/" + first->id;
  loss.why = explain_refusals(planner.explain(*first, std::nullopt).refused);
}

}  // namespace

Result<std::vector<Loss>> survive(
    Planner& planner, const std::string& label, const std::string& domain,
    const std::function<void(std::size_t done, std::size_t all)>& on_loss) {
  const Inventory& inventory = planner.state().inventory();
  std::map<std::string, std::vector<Index>, IdLess> members;
  for (std::size_t h = 0; h < inventory.hosts().size(); ++h) {
    const std::string value = label_of(inventory.hosts()[h], label);
    if (!value.empty() && (domain.empty() || domain == value))
      members[value].push_back(static_cast<Index>(h));
  }
  if (members.empty()) {
    return fail(ErrorCode::not_found,
                fmt::format("no host has {}{}", label, domain.empty() ? "" : "=" + domain));
  }
  const std::vector<std::vector<Index>> groups_on = groups_by_host(planner.state());
  const auto budget =
      static_cast<int>(std::clamp(kBudget / members.size(), kBudgetMin, kBudgetMax));
  std::vector<Loss> out;
  for (const auto& [name, hosts] : members) {
    Loss loss;
    loss.domain = name;
    const std::size_t mark = planner.mark();
    std::vector<Want> wants = lose(planner, hosts, groups_on);
    Choice choice = choose(planner, wants, budget);
    loss.groups = static_cast<int>(wants.size());
    loss.unplaced = choice.fault.unplaced;
    loss.violations = choice.fault.violations;
    if (loss.unplaced > 0) explain_first(planner, wants, std::move(choice), loss);
    planner.rollback(mark);
    out.push_back(std::move(loss));
    if (on_loss) on_loss(out.size(), members.size());
  }
  return out;
}

}  // namespace fdbpack::place
