// SPDX-License-Identifier: Apache-2.0
#include "agent/launcher/options.hpp"

#include "agent/state_dir.hpp"
#include "fdbpack/base/text.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>

namespace fdbpack::agent {
namespace {

constexpr int kUsageError = 2;  // as fdb-kubernetes-monitor
constexpr int kUnknownMode = 1;
constexpr const char* kStateRoot = "/run/fdb-kubernetes-monitor/";
constexpr int kProcessCountMax = 1000;

// Names of its flags: what a variable may stand for.
std::string variable_name(std::string flag) {
  for (char& c : flag) {
    if (c == '-') c = '_';
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return flag;
}

struct Raw {
  std::string mode = "launcher";
  std::string input_monitor_conf = "config.json";
  double grace_s = 10;
};

using Names = std::vector<std::string>;

void add_texts(CLI::App& app, LauncherOptions& options, Raw& raw, Names& names) {
  const auto text = [&](const char* name, std::string& value, const char* help) {
    names.emplace_back(name);
    app.add_option(std::string("--") + name, value, help)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
        ->capture_default_str();
  };
  text("mode", raw.mode, "launcher, init or sidecar");
  text("fdbserver-path", options.rules.fdbserver_path, "fdbserver of this container");
  text("input-dir", options.copies.input_dir, "Folder of the input files");
  text("input-monitor-conf", raw.input_monitor_conf, "The configuration, in the input folder");
  text("log-path", options.log_path, "A file for the log, besides stdout");
  text("output-dir", options.output_dir, "Where copies go");
  text("version-file", options.version_file, "Holds the version of this container");
  text("shared-binary-dir", options.rules.shared_binary_dir, "<version>/fdbserver for others");
  text("binary-output-dir", options.copies.binary_output_dir, "Folder for binaries in output-dir");
  text("copy-primary-library", options.copies.primary_library, "Version to copy as libfdb_c.so");
  text("main-container-version", options.main_container_version,
       "Mode sidecar: nothing is copied if this container has the same");
  text("additional-env-file", options.additional_env_file, "Lines `export NAME=value`");
  text("listen-address", options.listen_address, "Where metrics are served");
  text("certificate-path", options.certificate_path, "Serve metrics with TLS: certificate");
  text("certificate-key-path", options.certificate_key_path, "Serve metrics with TLS: key");
}

void add_others(CLI::App& app, LauncherOptions& options, Raw& raw, Names& names) {
  const auto list = [&](const char* name, std::vector<std::string>& values, const char* help) {
    names.emplace_back(name);
    app.add_option(std::string("--") + name, values, help)->allow_extra_args(false);
  };
  list("copy-file", options.copies.files, "A file to copy from input-dir");
  list("copy-binary", options.copies.binaries, "A program to copy from /usr/bin");
  list("copy-library", options.copies.libraries, "Version of a client library to copy");
  list("require-not-empty", options.copies.required, "Fail when this --copy-file is empty");
  names.emplace_back("process-count");
  app.add_option("--process-count", options.rules.process_count, "How many processes run")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->check(CLI::Range(0, kProcessCountMax))
      ->capture_default_str();
  const auto flag = [&](const char* name, bool& value, const char* help) {
    names.emplace_back(name);
    app.add_flag(std::string("--") + name, value, help)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  };
  flag("enable-pprof", options.enables_pprof, "Accepted, without effect: there is no Go here");
  flag("enable-node-watch", options.watches_node, "Labels of the node become NODE_LABEL_…");

  const auto own = [&](const char* name, std::string& value, const char* help) {
    app.add_option(name, value, help)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
        ->capture_default_str();
  };
  own("--state-dir", options.state_dir, "State and status, for the next launcher");
  own("--cluster-file", options.cluster_file, "Its changes are announced");
  own("--service-account-dir", options.service_account_dir, "token and ca.crt");
  app.add_option("--stop-grace", raw.grace_s, "Seconds from SIGTERM to SIGKILL")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  app.add_flag("--keep-children", options.keeps_children,
               "Leave the processes running when told to stop");
  add_http_options(app, options.http, "off");
}

std::string absolute(const std::string& path) {
  std::error_code error;
  const auto result = std::filesystem::absolute(path, error);
  return error ? path : result.lexically_normal().string();
}

bool set_mode(const std::string& name, LauncherOptions& options) {
  using Mode = LauncherOptions::Mode;
  if (name != "launcher" && name != "init" && name != "sidecar") return false;
  options.mode = name == "init" ? Mode::init : name == "sidecar" ? Mode::sidecar : Mode::launcher;
  options.copies.mode =
      options.mode == Mode::sidecar ? launcher::CopyMode::sidecar : launcher::CopyMode::init;
  return true;
}

}  // namespace

std::variant<LauncherOptions, int> parse_launcher_options(const std::vector<std::string>& arguments,
                                                          const conf::Environment& environment) {
  LauncherOptions options;
  options.copies.input_dir = ".";
  Raw raw;
  Names names;
  CLI::App app("In place of fdb-kubernetes-monitor", "fdbpack-agent launcher");
  app.set_version_flag("--version", FDBPACK_VERSION);
  add_texts(app, options, raw, names);
  add_others(app, options, raw, names);

  std::vector<std::string> words;
  for (const std::string& name : names) {
    const auto value = environment.find(variable_name(name));
    if (value != environment.end() && !value->second.empty()) {
      words.push_back("--" + name + "=" + value->second);
    }
  }
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::reverse(words.begin(), words.end());  // as CLI11 wants them
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    return app.exit(error, std::cout, std::cerr) == 0 ? 0 : kUsageError;
  }
  if (!set_mode(raw.mode, options)) {
    std::cerr << "Unknown execution mode " << raw.mode << "\n";
    return kUnknownMode;
  }
  for (const auto& [name, folder] : {std::pair("TEST_BINARY_DIRECTORY", &options.copies.binary_dir),
                                     {"TEST_LIBRARY_DIRECTORY", &options.copies.library_dir}}) {
    if (const auto value = environment.find(name); value != environment.end()) {
      *folder = value->second;
    }
  }
  options.conf_path = absolute(options.copies.input_dir + "/" + raw.input_monitor_conf);
  options.cluster_file = absolute(options.cluster_file);
  // One launcher for one configuration file; two with different files do not meet.
  options.state_dir = options.state_dir.empty()
                          ? kStateRoot + StateDir(options.conf_path).agent_id()
                          : absolute(options.state_dir);
  options.stop_grace = std::chrono::milliseconds(static_cast<std::int64_t>(raw.grace_s * 1000));
  if (const auto http = with_options({}, options.http, "/"); !http) {
    std::cerr << http.error().message << "\n";
    return kUsageError;
  }
  return options;
}

Result<ListenPlace> parse_listen_place(std::string_view text) {
  const auto colon = text.rfind(':');
  const auto port =
      colon == std::string_view::npos ? std::nullopt : text::parse_decimal(text.substr(colon + 1));
  if (!port || *port > 65535) {
    return fail(ErrorCode::invalid_argument,
                "'" + std::string(text) + "' is not an address with a port");
  }
  ListenPlace place;
  place.port = static_cast<std::uint16_t>(*port);
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty()) {
    place.addresses = {"0.0.0.0", "::"};
  } else if (host == "localhost") {
    place.addresses = {"127.0.0.1", "::1"};
  } else {
    place.addresses = {std::string(host)};
  }
  return place;
}

}  // namespace fdbpack::agent
