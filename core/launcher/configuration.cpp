// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/launcher/configuration.hpp"

#include "fdbpack/base/text.hpp"
#include "fdbpack/conf/path.hpp"
#include "fdbpack/model/version.hpp"

#include <algorithm>

namespace fdbpack::launcher {
namespace {

constexpr std::string_view kType = "fdbserver";

}  // namespace

std::string section_of(int number) {
  return std::string(kType) + "." + std::to_string(number);
}

std::optional<int> number_of(std::string_view section) {
  if (!section.starts_with(kType) || section.substr(kType.size(), 1) != ".") return {};
  const auto number = text::parse_decimal(section.substr(kType.size() + 1));
  if (!number || *number == 0 || *number > 1'000'000) return {};
  return static_cast<int>(*number);
}

model::RestartPolicy restart_policy() {
  model::RestartPolicy policy;
  policy.ladder = model::RestartLadder::squares;
  policy.delay_max = std::chrono::seconds(60);
  policy.delay_initial = std::chrono::seconds(0);
  policy.reset_interval = std::chrono::minutes(5);
  return policy;
}

Result<Configuration> interpret(conf::UnifiedConf conf, const Rules& rules, bool is_isolated) {
  FDBPACK_TRY(const model::Version container, model::find_version(rules.container_version));
  FDBPACK_TRY(const model::Version wanted, model::find_version(conf.version));
  Configuration configuration;
  configuration.conf = std::move(conf);
  configuration.version = model::to_string(wanted);
  if (is_isolated) configuration.conf.run_servers = false;
  configuration.binary_path =
      wanted.is_protocol_compatible(container)
          ? rules.fdbserver_path
          : conf::join_path(conf::join_path(rules.shared_binary_dir, configuration.version), kType);
  return configuration;
}

std::string version_of_binary(std::string_view path, const Rules& rules) {
  if (path == rules.fdbserver_path) return rules.container_version;
  const std::string_view folder = path.substr(0, std::min(path.rfind('/'), path.size()));
  const std::string_view name = folder.substr(folder.rfind('/') + 1);
  if (path != conf::join_path(conf::join_path(rules.shared_binary_dir, name), kType)) return "";
  const auto parsed = model::find_version(name);
  return parsed ? model::to_string(*parsed) : "";
}

Result<conf::MonitorConf> processes_of(const Configuration& configuration, const Rules& rules,
                                       const conf::Environment& environment) {
  conf::MonitorConf result;
  result.kills_removed = true;
  // They are made even when nothing is to run: a configuration that could not run is refused now.
  for (int number = 1; number <= rules.process_count; ++number) {
    conf::ProcessCommand command;
    command.section = section_of(number);
    command.type = kType;
    command.id = std::to_string(number);
    FDBPACK_TRY(command.argv, conf::generate_all(configuration.conf, number, environment,
                                                 configuration.binary_path));
    command.restart = restart_policy();
    command.kill_on_configuration_change = false;
    command.memory_limit_bytes = 0;
    if (configuration.runs_servers()) result.processes.push_back(std::move(command));
  }
  return result;
}

}  // namespace fdbpack::launcher
