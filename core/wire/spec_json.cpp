// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/wire/spec_json.hpp"

#include "fdbpack/model/names.hpp"
#include "spec_parts.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace fdbpack::wire {
namespace {

using model::Automation;
using model::ClusterSpec;
using model::CustomParameter;
using model::CustomParameters;
using model::Database;
using model::Distribution;
using model::Tls;

constexpr std::size_t kRemovalsMax = 10'000;
constexpr std::uint32_t kSecondsMax = 365 * 24 * 3600;
constexpr std::uint32_t kFaultDomainsMax = 100'000;

std::string read_line(ObjectReader& object, std::string_view name, std::size_t bytes_max = 255) {
  const auto field = object.optional(name);
  if (!field) return {};
  auto text = field->string();
  if (!text) return {};
  if (!model::is_plain_line(*text, bytes_max)) {
    field->refuse("this must be one line of at most " + std::to_string(bytes_max) +
                  " bytes; take out control characters and blanks at its ends");
  }
  return *std::move(text);
}

template <class Enum>
void read_enum(ObjectReader& object, std::string_view name, std::string_view what,
               std::span<const Enum> all, Enum& target) {
  const auto field = object.optional(name);
  if (!field) return;
  std::vector<std::string_view> names;
  for (const Enum value : all)
    names.push_back(to_string(value));
  if (const auto index = field->one_of(names, what)) target = all[*index];
}

std::string read_name(const JsonReader& reader) {
  auto name = reader.string();
  if (!name) return {};
  if (!model::is_dns_label(*name)) {
    reader.refuse(
        "this is not a usable name of a cluster; use 1 to 63 lower-case letters, digits and -, "
        "with no - at either end");
  }
  return *std::move(name);
}

model::Version read_version(const JsonReader& reader) {
  const auto text = reader.string();
  if (!text) return {};
  const auto version = model::parse_version(*text);
  // Written back it must be the same text: "07.1.0" is nobody's version.
  if (!version || to_string(*version) != *text) {
    reader.refuse("this is not a version of FoundationDB; write it as 7.1.61 or 7.3.0-rc1");
    return {};
  }
  if (!version->is_at_least(model::kVersionMin)) {
    reader.refuse("version " + *text + " is not supported; use " + to_string(model::kVersionMin) +
                  " or newer");
  }
  return *version;
}

Database read_database(const JsonReader& reader, const model::Version& version) {
  Database database;
  ObjectReader object(reader);
  read_enum(object, "redundancyMode", "redundancy mode", model::all_redundancy_modes(),
            database.redundancy_mode);
  read_enum(object, "storageEngine", "storage engine", model::all_storage_engines(),
            database.storage_engine);
  object.finish();
  const auto first = model::first_version_with(database.storage_engine);
  const bool is_known_version = version.is_at_least(model::kVersionMin);
  if (is_known_version && !version.is_at_least(first)) {
    object.optional("storageEngine")
        .value_or(reader)
        .refuse("storage engine " + std::string(to_string(database.storage_engine)) +
                " is not supported on version " + to_string(version) + "; it needs " +
                to_string(first) + " or newer");
  }
  return database;
}

Tls read_tls(const JsonReader& reader) {
  Tls tls;
  ObjectReader object(reader);
  object.read("enabled", tls.enabled);
  tls.verify_peers = read_line(object, "verifyPeers", 4096);
  object.finish();
  return tls;
}

Distribution read_distribution(const JsonReader& reader, const Database& database) {
  Distribution distribution;
  ObjectReader object(reader);
  object.read("enabled", distribution.enabled);
  if (const auto field = object.optional("desiredFaultDomains"); field && !field->is_null()) {
    // With fewer domains than copies FoundationDB could not put each copy into a domain of its own.
    const auto domains_min = model::minimum_fault_domains(database.redundancy_mode);
    const auto domains = field->integer(1, kFaultDomainsMax);
    if (domains && *domains < domains_min) {
      field->refuse("redundancy mode " + std::string(to_string(database.redundancy_mode)) +
                    " needs at least " + std::to_string(domains_min) + " fault domains");
    } else if (domains) {
      distribution.desired_fault_domains = static_cast<std::uint32_t>(*domains);
    }
  }
  object.read("required", distribution.required);
  if (const auto field = object.optional("physicalDomain")) {
    if (auto label = field->string()) {
      if (!model::is_label_key(*label)) {
        field->refuse("this must be \"host\" or the name of a host label, such as \"rack\"");
      }
      distribution.physical_domain = *std::move(label);
    }
  }
  object.finish();
  return distribution;
}

std::vector<CustomParameter> read_parameter_list(const JsonReader& reader) {
  std::vector<JsonReader> items;
  std::vector<std::string> entries;
  for (const auto& item : reader.items(model::kCustomParametersMax)) {
    auto text = item.string();
    if (!text) continue;
    items.push_back(item);
    entries.push_back(*std::move(text));
  }
  auto parsed = model::parse_custom_parameters(entries);
  for (auto& violation : parsed.violations) {
    (violation.index ? items[*violation.index] : reader).refuse(std::move(violation.message));
  }
  return std::move(parsed.parameters);
}

CustomParameters read_custom_parameters(const JsonReader& reader) {
  CustomParameters parameters;
  const auto members = ObjectReader(reader).members();
  for (const auto& [name, value] : members) {
    if (name == "general") {
      parameters.general = read_parameter_list(value);
    } else if (const auto process_class = read_class_name(name, value, "general")) {
      parameters.by_class.insert_or_assign(*process_class, read_parameter_list(value));
    }
  }
  return parameters;
}

std::string read_zone_variable(const JsonReader& reader) {
  const auto text = reader.string();
  if (!text || text->empty()) return {};
  const std::string_view name =
      text->front() == '$' ? std::string_view(*text).substr(1) : std::string_view(*text);
  if (!model::is_variable_name(name) || !model::is_plain_line(name, 255)) {
    reader.refuse("this must be the name of an environment variable, such as NODE_LABEL_RACK");
  }
  return std::string(name);
}

std::vector<model::ProcessGroupId> read_removals(const JsonReader& reader) {
  std::vector<model::ProcessGroupId> groups;
  std::set<model::ProcessGroupId> seen;
  for (const auto& item : reader.items(kRemovalsMax)) {
    const auto text = item.string();
    if (!text) continue;
    auto id = model::parse_process_group_id(*text);
    if (!id) {
      item.refuse(std::move(id).error().message + "; write it as storage-12");
    } else if (!seen.insert(*id).second) {
      item.refuse("the process group " + *text + " is listed twice; remove one");
    } else {
      groups.push_back(*std::move(id));
    }
  }
  return groups;
}

Automation read_automation(const JsonReader& reader) {
  Automation automation;
  ObjectReader object(reader);
  object.read("replaceFailed", automation.replace_failed);
  object.read("failureDetectionSeconds", automation.failure_detection_seconds, 1, kSecondsMax);
  object.read("maxConcurrentReplacements", automation.max_concurrent_replacements, 0, 100'000);
  object.read("ignoreMissingProcessesSeconds", automation.ignore_missing_processes_seconds, 0,
              kSecondsMax);
  object.read("waitBetweenRemovalsSeconds", automation.wait_between_removals_seconds, 0,
              kSecondsMax);
  object.read("minimumUptimeSecondsForBounce", automation.minimum_uptime_seconds_for_bounce, 0,
              kSecondsMax);
  object.read("killProcesses", automation.kill_processes);
  object.read("configureDatabase", automation.configure_database);
  object.finish();
  return automation;
}

ClusterSpec read_spec(const JsonReader& reader) {
  ClusterSpec spec;
  ObjectReader object(reader);
  if (const auto field = object.required("name")) spec.name = read_name(*field);
  if (const auto field = object.required("version")) spec.version = read_version(*field);
  if (const auto field = object.optional("database")) {
    spec.database = read_database(*field, spec.version);
  }
  if (const auto field = object.optional("tls")) spec.tls = read_tls(*field);
  if (const auto field = object.required("processes")) {
    spec.processes = read_processes(*field);
  }
  if (const auto field = object.optional("distribution")) {
    spec.distribution = read_distribution(*field, spec.database);
  }
  if (const auto field = object.optional("customParameters")) {
    spec.custom_parameters = read_custom_parameters(*field);
  }
  spec.data_center = read_line(object, "dataCenter");
  spec.data_hall = read_line(object, "dataHall");
  spec.log_group = read_line(object, "logGroup");
  if (const auto field = object.optional("zoneVariable")) {
    spec.zone_variable = read_zone_variable(*field);
  }
  object.read("dnsInClusterFile", spec.dns_in_cluster_file);
  object.read("listenAddress", spec.listen_address);
  if (const auto field = object.optional("processGroupsToRemove")) {
    spec.process_groups_to_remove = read_removals(*field);
  }
  if (const auto field = object.optional("automation")) {
    spec.automation = read_automation(*field);
  }
  object.finish();
  return spec;
}

}  // namespace

Reading<ClusterSpec> check_cluster_spec(std::string_view json) {
  Violations violations;
  const auto document = parse_json(json, violations);
  if (!document) return tl::unexpected<Violations>(std::move(violations));
  ClusterSpec spec = read_spec(JsonReader(*document, violations));
  if (!violations.empty()) return tl::unexpected<Violations>(std::move(violations));
  return spec;
}

Result<ClusterSpec> read_cluster_spec(std::string_view json) {
  auto spec = check_cluster_spec(json);
  if (!spec) return fail(ErrorCode::invalid_argument, to_string(spec.error()));
  return *std::move(spec);
}

}  // namespace fdbpack::wire
