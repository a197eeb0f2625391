// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/sidecar/options.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <variant>

namespace fdbpack::sidecar {
namespace {

// Where the value of an option goes: a flag, a text, a list, or a text that may be missing.
using Place =
    std::variant<bool Options::*, std::string Options::*, std::vector<std::string> Options::*,
                 std::optional<std::string> Options::*>;

struct Option {
  std::string_view name;
  Place place;
  bool is_ours;
  std::string_view help;
};

const std::array<Option, 22>& known_options() {
  static const std::array<Option, 22> kOptions{{
      {"help", &Options::wants_help, false, "show this and exit"},
      {"init-mode", &Options::is_init_mode, false, "copy once and exit; no server"},
      {"bind-address", &Options::bind_address, false,
       "IP:PORT or [IP]:PORT; default $FDB_POD_IP or $FDB_PUBLIC_IP, port 8080"},
      {"tls", &Options::uses_tls, false, "serve HTTPS"},
      {"tls-certificate-file", &Options::tls_certificate_file, false,
       "PEM; default $FDB_TLS_CERTIFICATE_FILE"},
      {"tls-ca-file", &Options::tls_ca_file, false, "PEM; default $FDB_TLS_CA_FILE"},
      {"tls-key-file", &Options::tls_key_file, false, "PEM; default $FDB_TLS_KEY_FILE"},
      {"tls-verify-peers", &Options::tls_verify_peers, false,
       "which clients are welcome; default $FDB_TLS_VERIFY_PEERS"},
      {"input-dir", &Options::input_dir, false, "the config map; default /var/input-files"},
      {"output-dir", &Options::output_dir, false,
       "where files are written; default /var/output-files"},
      {"substitute-variable", &Options::substitute_variables, false,
       "a further environment variable for the monitor conf (repeatable)"},
      {"copy-file", &Options::copy_files, false,
       "a file of the input directory to copy (repeatable)"},
      {"copy-binary", &Options::copy_binaries, false, "a binary to copy (repeatable)"},
      {"copy-library", &Options::copy_libraries, false,
       "a version of the client library to copy, as 7.1 (repeatable)"},
      {"input-monitor-conf", &Options::input_monitor_conf, false,
       "the template of fdbmonitor.conf in the input directory"},
      {"main-container-version", &Options::main_container_version, false,
       "FoundationDB's version in the main container"},
      {"public-ip-family", &Options::public_ip_family, false,
       "4 or 6: the addresses are lists, take the first of this family"},
      {"main-container-conf-dir", &Options::main_container_conf_dir, false,
       "the output directory as the main container sees it; default /var/dynamic-conf"},
      {"require-not-empty", &Options::require_not_empty, false,
       "a file of the input directory without which nothing is copied (repeatable)"},
      {"version-file", &Options::version_file, true, "default /var/fdb/version"},
      {"binary-dir", &Options::binary_dir, true, "where --copy-binary looks; default /usr/bin"},
      {"library-dir", &Options::library_dir, true,
       "where --copy-library looks; default /var/fdb/lib"},
  }};
  return kOptions;
}

Result<const Option*> find_option(std::string_view name) {
  std::vector<const Option*> candidates;
  for (const Option& option : known_options()) {
    if (option.name == name) return &option;
    if (!option.is_ours && option.name.starts_with(name)) candidates.push_back(&option);
  }
  if (candidates.size() == 1) return candidates.front();
  std::string message =
      (candidates.empty() ? "unrecognized arguments: --" : "ambiguous option: --") +
      std::string(name);
  if (!candidates.empty()) {
    message += " could match";
    for (const Option* option : candidates)
      message += (option == candidates.front() ? " --" : ", --") + std::string(option->name);
  }
  return fail(ErrorCode::invalid_argument, message);
}

bool takes_value(const Option& option) {
  return !std::holds_alternative<bool Options::*>(option.place);
}

void store(Options& options, const Option& option, std::string value) {
  if (const auto* text = std::get_if<std::string Options::*>(&option.place)) {
    options.*(*text) = std::move(value);
  } else if (const auto* list = std::get_if<std::vector<std::string> Options::*>(&option.place)) {
    (options.*(*list)).push_back(std::move(value));
  } else if (const auto* maybe =
                 std::get_if<std::optional<std::string> Options::*>(&option.place)) {
    options.*(*maybe) = std::move(value);
  } else {
    options.*(std::get<bool Options::*>(option.place)) = true;
  }
}

}  // namespace

Result<Options> parse_options(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument =
        arguments[i] == "-h" ? "--help" : std::string_view(arguments[i]);
    if (!argument.starts_with("--") || argument.size() == 2) {
      return fail(ErrorCode::invalid_argument, "unrecognized arguments: " + std::string(argument));
    }
    const auto equals = argument.find('=');
    FDBPACK_TRY(const Option* option,
                find_option(argument.substr(2, equals == argument.npos ? equals : equals - 2)));
    const std::string name = "argument --" + std::string(option->name);
    if (!takes_value(*option)) {
      if (equals != argument.npos) {
        return fail(ErrorCode::invalid_argument, name + ": ignored explicit argument");
      }
      store(options, *option, {});
      if (options.wants_help) return options;
      continue;
    }
    if (equals != argument.npos) {
      store(options, *option, std::string(argument.substr(equals + 1)));
      continue;
    }
    // What looks like an option is none's value: a value was forgotten.
    if (i + 1 == arguments.size() || arguments[i + 1].starts_with('-')) {
      return fail(ErrorCode::invalid_argument, name + ": expected one argument");
    }
    store(options, *option, arguments[++i]);
  }
  return options;
}

std::string help_text() {
  std::string text =
      "usage: fdbpack-agent sidecar [options], also called as sidecar.py\n\n"
      "In place of FoundationDB's Kubernetes sidecar: copies files, binaries and the monitor "
      "conf,\n"
      "and answers the operator's questions about them.\n\n";
  for (const Option& option : known_options()) {
    std::string line = "  --" + std::string(option.name) + (takes_value(option) ? " VALUE" : "");
    line.resize(std::max<std::size_t>(line.size() + 2, 36), ' ');
    text += line + std::string(option.help) + "\n";
  }
  return text;
}

}  // namespace fdbpack::sidecar
