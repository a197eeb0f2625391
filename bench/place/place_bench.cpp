// SPDX-License-Identifier: Apache-2.0
//
// CPU time of the placement engine, one thread. Each row is one line of JSON: what, hosts, value,
// unit and what else belongs to it. bench/place/compare.py runs this beside hbal, hail, hspace and
// hroller.
//
//   place_bench run [hosts...]          all rows, and how they grow
//   place_bench write FILE hosts seed   an htools cluster for both sides
//   place_bench balance FILE [--ignore-dynu]
//   place_bench capacity FILE           standard and tiered, as hspace counts them
#include "fdbpack/base/check.hpp"
#include "fdbpack/place/capacity.hpp"
#include "fdbpack/place/evacuate.hpp"
#include "fdbpack/place/explain.hpp"
#include "fdbpack/place/generate.hpp"
#include "fdbpack/place/htools/balance.hpp"
#include "fdbpack/place/htools/capacity.hpp"
#include "fdbpack/place/htools/text.hpp"
#include "fdbpack/place/plan.hpp"
#include "fdbpack/place/rebalance.hpp"
#include "fdbpack/place/waves.hpp"

#include <fmt/format.h>

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace fdbpack::place {
namespace {

double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// The least of `rounds` runs: what it costs when nobody disturbs.
template <class Work>
double best_of(int rounds, const Work& work) {
  double best = 1e9;
  for (int i = 0; i < rounds; ++i) {
    const double start = cpu_seconds();
    work();
    best = std::min(best, cpu_seconds() - start);
  }
  return best;
}

struct Row {
  std::string what;
  int hosts = 0;
  double value = 0;
  std::string unit;
  std::string more;
};
std::vector<Row> rows;

// Of several passes the best counts.
void row(const std::string& what, int hosts, double value, const std::string& unit,
         const std::string& more = "") {
  const auto known = std::find_if(rows.begin(), rows.end(), [&](const Row& other) {
    return other.what == what && other.hosts == hosts;
  });
  if (known == rows.end()) {
    rows.push_back({what, hosts, value, unit, more});
  } else {
    known->value = unit == "cpu_s" ? std::min(known->value, value) : std::max(known->value, value);
  }
}

void show_rows() {
  for (const Row& one : rows) {
    fmt::print("{{\"what\": \"{}\", \"hosts\": {}, \"value\": {:.9g}, \"unit\": \"{}\"{}}}\n",
               one.what, one.hosts, one.value, one.unit, one.more);
  }
}

Inventory make_inventory(const GenerateOptions& options) {
  Result<Fleet> fleet = generate_fleet(options);
  FDBPACK_CHECK(fleet.has_value());
  Result<Inventory> inventory = Inventory::build(*std::move(fleet));
  FDBPACK_CHECK(inventory.has_value());
  return *std::move(inventory);
}

std::string read_file(const std::string& path) {
  std::ifstream in(path);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

void balance_text(const std::string& text, int hosts, bool ignore_dynu) {
  htools::BalanceOptions options;
  options.ignore_dynu = ignore_dynu;
  htools::BalanceResult result;
  const double seconds = best_of(
      hosts > 1000 ? 1 : 3, [&] { result = *htools::balance(*htools::parse_text(text), options); });
  row(ignore_dynu ? "balance --ignore-dynu" : "balance", hosts, seconds, "cpu_s",
      fmt::format(", \"initial\": {:.8f}, \"final\": {:.8f}, \"moves\": {}, \"candidates\": {}",
                  result.initial.overall(), result.final.overall(), result.moves.size(),
                  result.candidates));
}

void capacity_text(const std::string& text, int hosts) {
  std::int64_t standard = 0;
  std::int64_t tiered = 0;
  const double seconds = best_of(3, [&] {
    const htools::Cluster cluster = *htools::parse_text(text);
    standard = htools::forecast(cluster)->instances;
    tiered = 0;
    const std::vector<htools::Tier> tiers = *htools::forecast_tiered(cluster);
    for (const htools::Tier& tier : tiers)
      tiered += tier.instances;
  });
  row("capacity as hspace", hosts, seconds, "cpu_s",
      fmt::format(", \"standard\": {}, \"tiered\": {}", standard, tiered));
}

void bench_decisions(int hosts) {
  GenerateOptions options;
  options.hosts = hosts;
  options.domains = 10;
  options.is_required = true;
  options.is_placed = false;
  const Inventory inventory = make_inventory(options);
  const Index set = inventory.find_set("cluster-1", "storage", "default");
  Planner planner(inventory);
  Want want;
  want.set = set;
  const std::size_t mark = planner.mark();
  (void)planner.decide(want);  // builds the index once, as for a coordinator that stays up
  const int count = hosts * 5;
  const double seconds = best_of(3, [&] {
    planner.rollback(mark);
    for (int i = 0; i < count; ++i) {
      std::optional<Decision> decision = planner.decide(want);
      FDBPACK_CHECK(decision.has_value());
      planner.accept(*decision);
    }
  });
  row("decisions, required separation", hosts, count / seconds, "1/cpu_s");
}

void bench_explained(int hosts) {
  GenerateOptions options;
  options.hosts = hosts;
  options.domains = 10;
  options.is_required = true;
  const Inventory inventory = make_inventory(options);
  Planner planner(inventory);
  Want want;
  want.set = inventory.find_set("cluster-1", "storage", "default");
  want.id = "storage-new";
  Explanation why = planner.explain(want);
  row("explained allocation", hosts, best_of(50, [&] { why = planner.explain(want); }), "cpu_s",
      fmt::format(", \"refused\": {}, \"candidates\": {}", why.refused.size(),
                  why.candidates.size()));
  std::size_t bytes = 0;
  const double prose = best_of(20, [&] {
    bytes = 0;
    for (const std::string& line : explain_text(planner.state(), why))
      bytes += line.size();
  });
  row("its prose for every host", hosts, prose, "cpu_s", fmt::format(", \"bytes\": {}", bytes));
}

// The same work on every size: the first host that carries five groups.
std::string host_of_five(const Inventory& inventory) {
  std::vector<int> groups(inventory.hosts().size());
  for (std::size_t g = 0; g < inventory.groups().size(); ++g)
    ++groups[Inventory::to_size(inventory.host_of(static_cast<Index>(g)))];
  const auto found = std::find(groups.begin(), groups.end(), 5);
  FDBPACK_CHECK(found != groups.end());
  return inventory.hosts()[static_cast<std::size_t>(found - groups.begin())].id;
}

// Every group of an empty fleet placed in one plan, without explanations.
void bench_plan(int hosts) {
  GenerateOptions options;
  options.hosts = hosts;
  options.domains = 10;
  options.is_placed = false;
  const Inventory inventory = make_inventory(options);
  std::size_t placed = 0;
  const double seconds = best_of(2, [&] {
    Planner planner(inventory);
    PlanOptions plan_options;
    plan_options.has_explanations = false;
    placed = plan(planner, plan_options)->placed.size();
  });
  row("place a whole fleet", hosts, seconds, "cpu_s", fmt::format(", \"groups\": {}", placed));
}

void bench_operations(int hosts) {
  GenerateOptions options;
  options.hosts = hosts;
  options.clusters = 5;
  options.domains = 10;
  const Inventory inventory = make_inventory(options);
  row("build inventory and state", hosts,
      best_of(3,
              [&] {
                const Inventory again = make_inventory(options);
                const Planner planner(again);
              }),
      "cpu_s", ", \"note\": \"with generating the fleet\"");
  Planner planner(inventory);
  int more = 0;
  const double forecast = best_of(5, [&] {
    more = capacity(planner, {"cluster-1", "storage"})->more;
  });
  row("capacity forecast", hosts, forecast, "cpu_s", fmt::format(", \"more\": {}", more));
  std::size_t losses = 0;
  const double survival = best_of(2, [&] { losses = survive(planner, "host", "")->size(); });
  row("survive the loss of any host", hosts, survival, "cpu_s",
      fmt::format(", \"domains\": {}", losses));
  EvacuateRequest request;
  request.hosts = {host_of_five(inventory)};
  std::size_t moved = 0;
  const double evacuation = best_of(9, [&] {
    Planner fresh(inventory);
    const Evacuation result = *evacuate(fresh, request);
    moved = result.placed.size();
  });
  row("evacuation plan, explained", hosts, evacuation, "cpu_s",
      fmt::format(", \"groups\": {}", moved));
  std::size_t count = 0;
  const double colouring = best_of(9, [&] { count = waves(inventory, {}).size(); });
  row("waves", hosts, colouring, "cpu_s", fmt::format(", \"waves\": {}", count));
}

void bench_rebalance(int hosts) {
  GenerateOptions options;
  options.hosts = hosts;
  const Inventory inventory = make_inventory(options);
  Rebalance result;
  const double seconds = best_of(1, [&] {
    Planner planner(inventory);
    result = rebalance(planner, {});
  });
  row("rebalance (own objective)", hosts, seconds, "cpu_s",
      fmt::format(", \"before\": {:.6f}, \"after\": {:.6f}, \"moves\": {}", result.before.score(),
                  result.after.score(), result.moves.size()));
}

// How much dearer the largest size is than the smallest, and that as a share of n log n: not above
// 1 is what is asked for.
void show_growth() {
  std::map<std::string, std::map<int, double>> seconds;
  for (const Row& one : rows) {
    if (one.unit == "cpu_s") seconds[one.what][one.hosts] = one.value;
  }
  for (const auto& [what, sizes] : seconds) {
    const auto& [small, first] = *sizes.begin();
    const auto& [large, last] = *sizes.rbegin();
    if (small == large) continue;
    const double ideal = large * std::log(large) / (small * std::log(small));
    fmt::print(
        "{{\"what\": \"growth of {}\", \"from\": {}, \"hosts\": {}, \"value\": {:.3g}, "
        "\"unit\": \"x\", \"of_n_log_n\": {:.2f}}}\n",
        what, small, large, last / first, last / first / ideal);
  }
}

// The sizes take turns, so that a busy minute of the machine does not fall on one of them alone.
int run(const std::vector<int>& sizes) {
  for (int pass = 0; pass < 4; ++pass) {
    for (const int hosts : sizes) {
      const std::string text = htools::print_text(*generate_htools(hosts, 5, 1));
      if (pass < 2) balance_text(text, hosts, false);
      if (pass < 2) balance_text(text, hosts, true);
      bench_decisions(hosts);
      bench_explained(hosts);
      bench_plan(hosts);
      bench_operations(hosts);
      if (pass < 2) bench_rebalance(hosts);
    }
  }
  show_rows();
  show_growth();
  return 0;
}

int main_with(const std::vector<std::string>& args) {
  if (args.size() == 4 && args[0] == "write") {
    std::ofstream(args[1]) << htools::print_text(
        *generate_htools(std::stoi(args[2]), 5, std::stoull(args[3])));
    return 0;
  }
  if (args.size() >= 2 && args[0] == "balance") {
    const std::string text = read_file(args[1]);
    const auto hosts = static_cast<int>(htools::parse_text(text)->nodes.size());
    balance_text(text, hosts, args.size() > 2 && args[2] == "--ignore-dynu");
    show_rows();
    return 0;
  }
  if (args.size() == 2 && args[0] == "capacity") {
    const std::string text = read_file(args[1]);
    capacity_text(text, static_cast<int>(htools::parse_text(text)->nodes.size()));
    show_rows();
    return 0;
  }
  if (!args.empty() && args[0] == "run") {
    std::vector<int> sizes;
    for (std::size_t i = 1; i < args.size(); ++i)
      sizes.push_back(std::stoi(args[i]));
    return run(sizes.empty() ? std::vector<int>{500, 1000, 2000, 5000} : sizes);
  }
  std::fputs(
      "usage: place_bench run [hosts...] | write FILE hosts seed | balance FILE [--ignore-dynu] | "
      "capacity FILE\n",
      stderr);
  return 64;
}

}  // namespace
}  // namespace fdbpack::place

int main(int argc, char** argv) {
  return fdbpack::place::main_with({argv + 1, argv + argc});
}
