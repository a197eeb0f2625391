// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/model/custom_parameter.hpp"

#include "fdbpack/base/text.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace fdbpack::model {
namespace {

struct OwnedKey {
  std::string_view name;  // canonical
  std::string_view advice;
};

constexpr std::string_view kFdbmonitorAdvice =
    "is a key of fdbmonitor, not of fdbserver; remove it, fdbpack sets how processes are restarted";

// What would override an argument that fdbpack writes, and the keys that never reach fdbserver.
constexpr auto kOwnedKeys = std::to_array<OwnedKey>({
    {"datadir", "is set by fdbpack for every process; remove it and use storageUnit of the set"},
    {"cluster_file", "is set by fdbpack; remove it"},
    {"seed_cluster_file", "is set by fdbpack; remove it"},
    {"seed_connection_string", "excludes the seed cluster file that fdbpack sets; remove it"},
    {"public_address", "is set by fdbpack; remove it and use tls to choose the listeners"},
    {"listen_address", "is set by fdbpack; remove it and use the field listenAddress"},
    {"class", "is set by fdbpack; remove it and add the class under processes"},
    {"logdir", "is set by fdbpack; remove it"},
    {"loggroup", "is set by fdbpack; remove it and use the field logGroup"},
    {"tls_verify_peers", "is set by fdbpack; remove it and use the field tls.verifyPeers"},
    {"locality_process_id", "is set by fdbpack to the process ID; remove it"},
    {"locality_instance_id", "is set by fdbpack to the process group ID; remove it"},
    {"locality_machineid", "is set by fdbpack to the host; remove it"},
    {"machine_id", "would override the zone and the machine that fdbpack sets; remove it"},
    {"locality_zoneid", "is set by fdbpack; remove it and use the field zoneVariable"},
    {"datacenter_id", "would override the data center; remove it and use the field dataCenter"},
    {"locality_dns_name", "is set by fdbpack; remove it and use the field dnsInClusterFile"},
    {"command", kFdbmonitorAdvice},
    {"restart_delay", kFdbmonitorAdvice},
    {"initial_restart_delay", kFdbmonitorAdvice},
    {"restart_backoff", kFdbmonitorAdvice},
    {"restart_delay_reset_interval", kFdbmonitorAdvice},
    {"disable_lifecycle_logging", kFdbmonitorAdvice},
    {"delete_envvars", kFdbmonitorAdvice},
    {"envvars", kFdbmonitorAdvice},
    {"kill_on_configuration_change", kFdbmonitorAdvice},
    {"user", kFdbmonitorAdvice},
    {"group", kFdbmonitorAdvice},
});

auto bad(std::string message) {
  return fail(ErrorCode::invalid_argument, std::move(message));
}

std::string quoted(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

bool is_name_char(char c) {
  const char lower = text::lower(c);
  return (lower >= 'a' && lower <= 'z') || text::is_digit(c) || c == '_' || c == '-';
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
}

// Characters, not bytes: UTF-8 continuation bytes do not count.
std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

Status check_name(std::string_view name) {
  if (name.empty()) return bad("the name in front of = is missing; write name = value");
  if (name.starts_with("--")) {
    return bad("leave out the leading -- of " + quoted(name) + "; fdbpack adds it");
  }
  if (!std::all_of(name.begin(), name.end(), is_name_char) || name.front() == '-') {
    return bad("the name " + quoted(name) + " may only hold letters, digits, _ and -");
  }
  const std::string canonical = canonical_parameter_name(name);
  for (const auto& key : kOwnedKeys) {
    if (key.name == canonical) return bad(quoted(name) + " " + std::string(key.advice));
  }
  return {};
}

}  // namespace

std::string canonical_parameter_name(std::string_view name) {
  std::string result = text::to_lower(name);
  std::replace(result.begin(), result.end(), '-', '_');
  return result;
}

Result<CustomParameter> parse_custom_parameter(std::string_view text) {
  if (std::any_of(text.begin(), text.end(), is_control)) {
    return bad("a parameter is one line without control characters; split it or take them out");
  }
  if (count_characters(text) > kCustomParameterCharactersMax) {
    return bad("a parameter has at most 100 characters; shorten " +
               quoted(text.substr(0, text.find('='))));
  }
  const std::size_t equals = text.find('=');
  const std::string_view name = text::trim(text.substr(0, equals));
  // Told first, because adding the `=` would not help with somebody else's key.
  if (equals != std::string_view::npos || !name.empty()) FDBPACK_TRY_VOID(check_name(name));
  if (equals == std::string_view::npos) {
    return bad(quoted(text) + " has no =; write name = value");
  }
  return CustomParameter{.name = std::string(name),
                         .value = std::string(text::trim(text.substr(equals + 1)))};
}

ParsedParameters parse_custom_parameters(std::span<const std::string> entries) {
  ParsedParameters parsed;
  if (entries.size() > kCustomParametersMax) {
    parsed.violations.push_back({std::nullopt, "there are " + std::to_string(entries.size()) +
                                                   " parameters, at most 100 are allowed"});
    return parsed;
  }
  std::map<std::string, std::size_t> first_of;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    auto parameter = parse_custom_parameter(entries[i]);
    if (!parameter) {
      parsed.violations.push_back({i, std::move(parameter).error().message});
      continue;
    }
    const auto [first, is_new] = first_of.try_emplace(canonical_parameter_name(parameter->name), i);
    if (!is_new) {
      parsed.violations.push_back({i, quoted(parameter->name) + " is set twice, first in entry " +
                                          std::to_string(first->second) + "; remove one"});
      continue;
    }
    parsed.parameters.push_back(*std::move(parameter));
  }
  return parsed;
}

std::string to_string(const CustomParameter& parameter) {
  std::string wide = parameter.name + " = " + parameter.value;
  if (count_characters(wide) <= kCustomParameterCharactersMax) return wide;
  return parameter.name + "=" + parameter.value;
}

}  // namespace fdbpack::model
