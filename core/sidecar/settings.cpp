// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/sidecar/settings.hpp"

#include "fdbpack/base/text.hpp"
#include "fdbpack/model/ip.hpp"
#include "plan.hpp"

#include <array>

namespace fdbpack::sidecar {
namespace {

constexpr std::string_view kDefaultPort = ":8080";
constexpr std::string_view kMainBinaryDir = "/usr/bin";

std::string get(const Environment& environment, std::string_view name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

// Of "7.1.43" the first two numbers.
Result<std::pair<std::uint64_t, std::uint64_t>> minor_version(std::string_view version) {
  const auto parts = text::split(version, '.');
  const auto major = text::parse_decimal(parts[0]);
  const auto minor = parts.size() > 1 ? text::parse_decimal(parts[1]) : std::nullopt;
  if (!major || !minor) {
    return fail(ErrorCode::invalid_argument,
                "'" + std::string(version) + "' is no version of FoundationDB, such as 7.1.43");
  }
  return std::pair(*major, *minor);
}

Status refuse_old_variables(const Environment& environment) {
  for (const std::string_view name : {"SIDECAR_CONF_DIR", "INPUT_DIR", "OUTPUT_DIR", "COPY_ONCE"}) {
    if (get(environment, name).empty()) continue;
    return fail(ErrorCode::unsupported, "Environment variable " + std::string(name) +
                                            " is not supported in this version of FoundationDB. "
                                            "Please use the command-line arguments instead.");
  }
  return {};
}

Result<std::string> tls_file(const std::string& given, const Environment& environment,
                             const std::string& option, const std::string& variable) {
  std::string file = given.empty() ? get(environment, variable) : given;
  if (!file.empty()) return file;
  return fail(ErrorCode::invalid_argument, "with --tls a file is needed, either through --" +
                                               option + " or the environment variable " + variable);
}

Result<TlsSettings> make_tls(const Options& options, const Environment& environment) {
  TlsSettings tls;
  FDBPACK_TRY(tls.certificate_file, tls_file(options.tls_certificate_file, environment,
                                             "tls-certificate-file", "FDB_TLS_CERTIFICATE_FILE"));
  FDBPACK_TRY(tls.ca_file,
              tls_file(options.tls_ca_file, environment, "tls-ca-file", "FDB_TLS_CA_FILE"));
  FDBPACK_TRY(tls.key_file,
              tls_file(options.tls_key_file, environment, "tls-key-file", "FDB_TLS_KEY_FILE"));
  const std::string rules = options.tls_verify_peers.empty()
                                ? get(environment, "FDB_TLS_VERIFY_PEERS")
                                : options.tls_verify_peers;
  FDBPACK_TRY(tls.rules, http::PeerRules::parse(rules));
  if (tls.rules.accepts_unverified()) {
    tls.warnings.emplace_back("Check.Valid=0 and Check.Unexpired=0 have no effect in the sidecar");
  }
  for (const auto& alternative : tls.rules.alternatives()) {
    for (const auto& term : alternative.terms) {
      if (term.scope != http::PeerTerm::Scope::root) continue;
      tls.warnings.emplace_back("rules about R. or Root. never match in the sidecar");
      return tls;
    }
  }
  return tls;
}

Status fill_defaults(Substitutions& variables, const Environment& environment,
                     const std::function<Result<std::string>()>& host_address) {
  for (const std::string_view name :
       {"FDB_PUBLIC_IP", "FDB_MACHINE_ID", "FDB_ZONE_ID", "FDB_INSTANCE_ID", "FDB_POD_IP"}) {
    variables.set(name, get(environment, name));
  }
  if (variables.value("FDB_MACHINE_ID").empty()) {
    variables.set("FDB_MACHINE_ID", get(environment, "HOSTNAME"));
  }
  if (variables.value("FDB_ZONE_ID").empty()) {
    variables.set("FDB_ZONE_ID", std::string(variables.value("FDB_MACHINE_ID")));
  }
  if (!variables.value("FDB_PUBLIC_IP").empty()) return {};
  std::string address = get(environment, "FDB_POD_IP");
  if (!environment.contains("FDB_POD_IP")) {
    FDBPACK_TRY(address, host_address());
  }
  variables.set("FDB_PUBLIC_IP", std::move(address));
  return {};
}

Result<Substitutions> make_substitutions(const Options& options, const Environment& environment,
                                         std::string_view version,
                                         const std::function<Result<std::string>()>& host_address) {
  Substitutions variables;
  FDBPACK_TRY_VOID(fill_defaults(variables, environment, host_address));
  const bool is_same_version = options.main_container_version == version;
  variables.set("BINARY_DIR", is_same_version ? std::string(kMainBinaryDir)
                                              : tidy_path(options.main_container_conf_dir +
                                                          "/bin/" + std::string(version)));
  for (const std::string& name : options.substitute_variables) {
    const auto found = environment.find(name);
    variables.set(name, found == environment.end() ? std::nullopt : std::optional(found->second));
  }
  if (!options.public_ip_family.empty()) {
    for (const std::string_view name : {"FDB_PUBLIC_IP", "FDB_POD_IP"}) {
      auto address = pick_address(options.public_ip_family, variables.value(name));
      if (!address) return fail(with_context(address.error(), name));
      variables.set(name, *std::move(address));
    }
  }
  const auto missing = variables.missing();
  if (!missing.empty() && !options.input_monitor_conf.empty()) {
    return fail(ErrorCode::invalid_argument, "the environment does not set " +
                                                 text::join(missing, ", ") +
                                                 ", which --substitute-variable asks for");
  }
  return variables;
}

}  // namespace

Result<std::string> pick_address(std::string_view family, std::string_view list) {
  if (family != "4" && family != "6") {
    return fail(ErrorCode::invalid_argument, "--public-ip-family is 4 or 6");
  }
  if (list.empty()) return std::string();
  const auto wanted = family == "4" ? model::IpFamily::v4 : model::IpFamily::v6;
  std::string seen;
  for (const std::string_view part : text::split(list, ',')) {
    const auto address = model::parse_ip(part.substr(0, part.find('%')));
    if (!address) {
      return fail(ErrorCode::invalid_argument, "'" + std::string(part) + "' is no IP address");
    }
    if (address->family == wanted) {
      return family == "6" ? "[" + std::string(part) + "]" : std::string(part);
    }
    seen += (seen.empty() ? "'" : ", '") + std::string(part) + "'";
  }
  return fail(ErrorCode::not_found,
              "Failed to find IPv" + std::string(family) + " entry in [" + seen + "]");
}

Result<BindAddress> parse_bind_address(std::string_view text) {
  const auto colon = text.rfind(':');
  const auto port = colon == text.npos ? std::nullopt : text::parse_decimal(text.substr(colon + 1));
  if (!port || *port > UINT16_MAX) {
    return fail(ErrorCode::invalid_argument,
                "the address to listen on is IP:PORT, not '" + std::string(text) + "'");
  }
  BindAddress result{std::string(text.substr(0, colon)), static_cast<std::uint16_t>(*port), false};
  if (result.host.starts_with('[') && result.host.ends_with(']') && result.host.size() > 2) {
    result.host = result.host.substr(1, result.host.size() - 2);
    result.is_v6 = true;
  }
  if (result.host.empty()) result.host = "0.0.0.0";
  return result;
}

Result<Settings> make_settings(const Options& options, const Environment& environment,
                               std::string_view version_text,
                               const std::function<Result<std::string>()>& host_address) {
  Settings settings;
  settings.is_init_mode = options.is_init_mode;
  settings.version = text::trim(version_text);
  settings.output_dir = options.output_dir;
  FDBPACK_TRY(const auto minor, minor_version(settings.version));
  settings.dialect = minor >= std::pair<std::uint64_t, std::uint64_t>(7, 4) ? Dialect::since_7_4
                                                                            : Dialect::before_7_4;
  FDBPACK_TRY_VOID(refuse_old_variables(environment));
  if (options.uses_tls) {
    FDBPACK_TRY(settings.tls, make_tls(options, environment));
  }
  FDBPACK_TRY(settings.substitutions,
              make_substitutions(options, environment, settings.version, host_address));
  std::string address = options.bind_address;
  if (address.empty()) {
    const bool has_pod_ip = !settings.substitutions.value("FDB_POD_IP").empty();
    address = settings.substitutions.value(has_pod_ip ? "FDB_POD_IP" : "FDB_PUBLIC_IP");
    address += kDefaultPort;
  }
  // An init container listens on nothing, whatever its address.
  if (!settings.is_init_mode) {
    FDBPACK_TRY(settings.bind_address, parse_bind_address(address));
  }
  FDBPACK_TRY(settings.plan, make_plan(options, settings.version));
  return settings;
}

}  // namespace fdbpack::sidecar
