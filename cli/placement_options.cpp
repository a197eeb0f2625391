// SPDX-License-Identifier: Apache-2.0
#include "cli/placement_options.hpp"

#include "cli/commands/balance.hpp"
#include "cli/commands/capacity.hpp"
#include "cli/commands/evacuate.hpp"
#include "cli/commands/fleet.hpp"
#include "cli/commands/place.hpp"

#include <CLI/CLI.hpp>

#include <cmath>

namespace fdbpack::cli {
namespace {

using Chosen = std::function<Outcome()>;

// default is ours and for fleets, htools is hbal's and for its own formats.
void add_objective(CLI::App* command, std::string& objective) {
  command
      ->add_option("--objective", objective,
                   "default: ours, for --fleet; htools: hbal's 20 metrics, for its formats")
      ->check(CLI::IsMember({"default", "htools"}));
}
void check_objective(const std::string& objective, const std::string& fleet) {
  if (objective == "htools" && !fleet.empty()) {
    throw CLI::ValidationError(
        "--objective htools",
        "hbal's score knows no fault domains or sets, so it is not for --fleet");
  }
  if (objective == "default" && fleet.empty()) {
    throw CLI::ValidationError(
        "--objective default",
        "Ganeti's formats have no sets or fault domains; only htools is for them");
  }
}

// One of two inputs; which one is missing is told by name.
void add_either(CLI::App* command, std::string& fleet, const char* other_name, std::string& other,
                const char* other_what) {
  auto* first = command
                    ->add_option("--fleet,--offline", fleet,
                                 "fleet snapshot, a JSON file; - is standard input")
                    ->option_text("FILE");
  auto* second = command->add_option(other_name, other, other_what)->option_text("FILE");
  first->excludes(second);
}
void require_either(const std::string& fleet, const std::string& other, const char* names) {
  if (fleet.empty() && other.empty()) throw CLI::RequiredError(names);
}

void add_fleet_option(CLI::App* command, std::string& target) {
  command
      ->add_option("--fleet,--offline", target, "fleet snapshot, a JSON file; - is standard input")
      ->required()
      ->option_text("FILE");
}
void add_json(CLI::App* command, bool& target) {
  command->add_flag("--json", target, "answer as JSON");
}
void add_relax(CLI::App* command, std::vector<std::string>& target) {
  command
      ->add_option("--relax", target,
                   "constraint that may be broken, e.g. cpu; what is broken is shown")
      ->option_text("NAME");
}
void add_seed(CLI::App* command, std::optional<std::uint64_t>& target) {
  command->add_option(
      "--seed", target,
      "hosts that are equally good are taken in the order of this seed, not of IDs");
}
void add_set_options(CLI::App* command, std::string& cluster, std::string& process_class,
                     std::string& set) {
  command->add_option("--cluster", cluster, "cluster; not needed when there is only one");
  command->add_option("--class", process_class, "process class")->capture_default_str();
  command->add_option("--set", set, "set of that class")->capture_default_str();
}

void add_place(CLI::App& app, ports::FileReader& files, const Screen& screen, Chosen& chosen) {
  static PlaceOptions options;
  options.screen = screen;
  auto* command = app.add_subcommand("place", "Decide where missing process groups go");
  add_either(command, options.fleet, "--request", options.request,
             "allocation request as hail reads it");
  static std::string objective;
  add_objective(command, objective);
  command->add_option("--cluster", options.cluster, "only this cluster");
  add_seed(command, options.seed);
  add_relax(command, options.relaxed);
  command->add_flag("--explain", options.has_explanations, "say why, for every group and host");
  add_json(command, options.is_json);
  command->footer("Example:\n  fdbpack place --fleet examples/fleet.json --explain");
  command->callback([&] {
    require_either(options.fleet, options.request, "--fleet or --request");
    check_objective(objective, options.fleet);
    chosen = [&] { return place(options, files); };
  });
}

void add_explain(CLI::App& app, ports::FileReader& files, const Screen& screen, Chosen& chosen) {
  static ExplainOptions options;
  options.screen = screen;
  auto* command = app.add_subcommand(
      "explain", "Say where the next group of a set would go, and why not elsewhere");
  add_fleet_option(command, options.fleet);
  add_set_options(command, options.cluster, options.process_class, options.set);
  add_seed(command, options.seed);
  add_relax(command, options.relaxed);
  add_json(command, options.is_json);
  command->footer("Example:\n  fdbpack explain --fleet examples/fleet.json --class storage");
  command->callback([&] { chosen = [&] { return explain(options, files); }; });
}

void add_balance(CLI::App& app, ports::FileReader& files, const Screen& screen, Chosen& chosen) {
  static BalanceOptions options;
  options.screen = screen;
  static std::string objective;
  auto* command = app.add_subcommand("balance", "Propose replacements that make a fleet more even");
  add_either(command, options.fleet, "--htools", options.htools,
             "cluster in the text format of Ganeti's htools");
  add_objective(command, objective);
  command->add_option("--group,-G", options.group, "node group of the htools cluster");
  command->add_flag("--ignore-dynu", options.ignore_dynu,
                    "leave the number of instances out of hbal's score");
  command->add_option("--moves", options.moves_max, "at most so many")
      ->check(CLI::Range(0, 1000000));
  command->add_option("--data-gib", options.data_gib_max, "copy at most so much")
      ->check(CLI::Range(0, 1 << 30));
  command->add_option("--min-gain", options.gain_min, "of the score, for one move")
      ->check(CLI::Range(0.0, 1e9));
  command->add_flag("!--no-swaps", options.has_swaps, "let no two change places");
  command->add_flag("--explain", options.has_explanations,
                    "say why, for every move and host of a fleet");
  add_json(command, options.is_json);
  command->footer("Example:\n  fdbpack balance --htools cluster.data --objective htools --json");
  command->callback([&] {
    require_either(options.fleet, options.htools, "--fleet or --htools");
    // A NaN is within every range that CLI11 checks.
    if (std::isnan(options.gain_min))
      throw CLI::ValidationError("--min-gain", "this must be a number of 0 or more");
    check_objective(objective, options.fleet);
    if (options.ignore_dynu && options.htools.empty())
      throw CLI::RequiresError("--ignore-dynu", "--htools");
    chosen = [&] { return balance(options, files); };
  });
}

void add_evacuate(CLI::App& app, ports::FileReader& files, const Screen& screen, Chosen& chosen) {
  static EvacuateOptions options;
  options.screen = screen;
  auto* command = app.add_subcommand("evacuate", "Plan where everything goes that has to leave");
  add_fleet_option(command, options.fleet);
  command->add_option("--host", options.hosts, "host to empty; may be given several times");
  command->add_option("--domain", options.domain, "physical domain to empty, label=value");
  command->add_option("--set", options.set, "set whose groups leave their hosts, class/set");
  command->add_option("--fault-domain", options.fault_domain, "likewise for a fault domain");
  command->add_option("--cluster", options.cluster,
                      "cluster of the set or fault domain; not needed when there is only one");
  add_seed(command, options.seed);
  add_relax(command, options.relaxed);
  command->add_flag("--explain", options.has_explanations, "say why, for every group and host");
  add_json(command, options.is_json);
  command->footer("Example:\n  fdbpack evacuate --fleet examples/fleet.json --host db-1");
  command->callback([&] { chosen = [&] { return evacuate(options, files); }; });
}

void add_capacity(CLI::App& app, ports::FileReader& files, const Screen& screen, Chosen& chosen) {
  static CapacityOptions options;
  options.screen = screen;
  auto* command = app.add_subcommand("capacity", "Forecast how many more groups of a set fit");
  add_either(command, options.fleet, "--htools", options.htools,
             "cluster in the text format of Ganeti's htools");
  add_set_options(command, options.cluster, options.process_class, options.set);
  command->add_option("--by", options.label,
                      "label that counts are given by; az where hosts have it");
  static std::string objective;
  add_objective(command, objective);
  command->add_option("--lose", options.lose,
                      "try the loss of each host, each rack, ..., or of label=value");
  add_json(command, options.is_json);
  command->footer("Example:\n  fdbpack capacity --fleet examples/fleet.json --lose rack");
  command->callback([&] {
    require_either(options.fleet, options.htools, "--fleet or --htools");
    check_objective(objective, options.fleet);
    chosen = [&] { return capacity(options, files); };
  });
}

void add_waves(CLI::App& app, ports::FileReader& files, const Screen& screen, Chosen& chosen) {
  static WavesOptions options;
  options.screen = screen;
  auto* command = app.add_subcommand("waves", "Group the hosts that can be maintained together");
  add_fleet_option(command, options.fleet);
  command->add_option("--max", options.hosts_max, "at most so many hosts in a wave")
      ->check(CLI::Range(1, 1000000));
  add_json(command, options.is_json);
  command->footer("Example:\n  fdbpack waves --fleet examples/fleet.json");
  command->callback([&] { chosen = [&] { return waves(options, files); }; });
}

void add_affinity(CLI::App& app, ports::FileReader& files, Chosen& chosen) {
  static AffinityOptions options;
  auto* command =
      app.add_subcommand("affinity", "Print label, zone and affinity of a pod, as JSON");
  command->add_option("group", options.group, "process group, e.g. storage-4")
      ->required()
      ->option_text("GROUP");
  add_fleet_option(command, options.fleet);
  command->add_option("--cluster", options.cluster,
                      "cluster; needed when several have such a group");
  command->footer("Example:\n  fdbpack affinity storage-1 --fleet examples/fleet.json");
  command->callback([&] { chosen = [&] { return affinity(options, files); }; });
}

void add_fleet(CLI::App& app, ports::FileReader& files, const Screen& screen, Chosen& chosen) {
  static GenerateFleetOptions options;
  static std::string file;
  auto* group = app.add_subcommand("fleet", "Look at fleet snapshots, and invent them");
  group->require_subcommand(1);
  group->footer("Example:\n  fdbpack fleet generate --hosts 12 --domains 3");
  auto* check = group->add_subcommand(
      "check", "Report what is wrong with a snapshot and which rules it breaks");
  check->add_option("file", file, "fleet snapshot, a JSON file; - is standard input")
      ->required()
      ->option_text("FILE");
  check->footer("Example:\n  fdbpack fleet check examples/fleet.json");
  check->callback([&] { chosen = [&] { return fleet_check(file, files, screen); }; });
  auto* command = group->add_subcommand("generate", "Invent a fleet");
  command->add_option("--hosts", options.fleet.hosts, "hosts")->required();
  command
      ->add_option("--groups-per-host", options.fleet.groups_per_host,
                   "storage groups; 0: none, not even the class")
      ->capture_default_str();
  command->add_option("--clusters", options.fleet.clusters, "clusters that share the hosts")
      ->capture_default_str();
  command->add_option("--domains", options.fleet.domains,
                      "logical fault domains of each class; 0: off");
  command->add_flag("--required", options.fleet.is_required, "never two domains on one host");
  command->add_option("--azs", options.fleet.azs, "availability zones; else 3, or one per host")
      ->check(CLI::Range(1, 1000000));
  command->add_flag("!--empty", options.fleet.is_placed,
                    "hosts only: every group is still to be placed");
  command->add_flag("--htools", options.is_htools, "in the text format of Ganeti's htools");
  command->add_option("--seed", options.fleet.seed, "same seed, same fleet")->capture_default_str();
  command->footer("Example:\n  fdbpack fleet generate --hosts 12 --domains 3");
  command->callback([&] { chosen = [&] { return fleet_generate(options); }; });
}

}  // namespace

void add_placement(CLI::App& app, ports::FileReader& files, const Screen& screen, Chosen& chosen) {
  add_place(app, files, screen, chosen);
  add_explain(app, files, screen, chosen);
  add_balance(app, files, screen, chosen);
  add_evacuate(app, files, screen, chosen);
  add_capacity(app, files, screen, chosen);
  add_waves(app, files, screen, chosen);
  add_affinity(app, files, chosen);
  add_fleet(app, files, screen, chosen);
}

}  // namespace fdbpack::cli
