// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/wire/spec_json.hpp"
#include "spec_parts.hpp"

#include <utility>

namespace fdbpack::wire {
namespace {

using model::ClusterSpec;

template <class Texts>
JsonValue write_texts(const Texts& values) {
  JsonValue::Array items;
  for (const auto& value : values)
    items.emplace_back(to_string(value));
  return items;
}

JsonValue write_distribution(const model::Distribution& distribution) {
  const auto domains = distribution.desired_fault_domains;
  return JsonValue::Object{
      {"enabled", distribution.enabled},
      {"desiredFaultDomains", domains ? JsonValue(std::int64_t{*domains}) : JsonValue()},
      {"required", distribution.required},
      {"physicalDomain", distribution.physical_domain},
  };
}

JsonValue write_custom_parameters(const model::CustomParameters& parameters) {
  JsonValue::Object members{{"general", write_texts(parameters.general)}};
  for (const auto& [process_class, list] : parameters.by_class) {
    members.emplace_back(to_string(process_class), write_texts(list));
  }
  return members;
}

JsonValue write_automation(const model::Automation& automation) {
  return JsonValue::Object{
      {"replaceFailed", automation.replace_failed},
      {"failureDetectionSeconds", std::int64_t{automation.failure_detection_seconds}},
      {"maxConcurrentReplacements", std::int64_t{automation.max_concurrent_replacements}},
      {"ignoreMissingProcessesSeconds", std::int64_t{automation.ignore_missing_processes_seconds}},
      {"waitBetweenRemovalsSeconds", std::int64_t{automation.wait_between_removals_seconds}},
      {"minimumUptimeSecondsForBounce", std::int64_t{automation.minimum_uptime_seconds_for_bounce}},
      {"killProcesses", automation.kill_processes},
      {"configureDatabase", automation.configure_database},
  };
}

}  // namespace

std::string write_cluster_spec(const ClusterSpec& spec) {
  const JsonValue document = JsonValue::Object{
      {"name", spec.name},
      {"version", to_string(spec.version)},
      {"database", JsonValue::Object{{"redundancyMode", to_string(spec.database.redundancy_mode)},
                                     {"storageEngine", to_string(spec.database.storage_engine)}}},
      {"tls",
       JsonValue::Object{{"enabled", spec.tls.enabled}, {"verifyPeers", spec.tls.verify_peers}}},
      {"processes", write_processes(spec.processes)},
      {"distribution", write_distribution(spec.distribution)},
      {"customParameters", write_custom_parameters(spec.custom_parameters)},
      {"dataCenter", spec.data_center},
      {"dataHall", spec.data_hall},
      {"logGroup", spec.log_group},
      {"zoneVariable", spec.zone_variable},
      {"dnsInClusterFile", spec.dns_in_cluster_file},
      {"listenAddress", spec.listen_address},
      {"processGroupsToRemove", write_texts(spec.process_groups_to_remove)},
      {"automation", write_automation(spec.automation)},
  };
  return print_json(document, JsonLayout::indented);
}

}  // namespace fdbpack::wire
