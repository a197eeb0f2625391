// SPDX-License-Identifier: Apache-2.0
//
// fdb-kubernetes-monitor's command line. Each of its flags can also be given as a variable: the
// name in upper case with `_` for `-`. The command line wins over the variable; flags that may be
// given several times add to it. docs/launcher.md lists them all.
#pragma once

#include "agent/http_options.hpp"
#include "fdbpack/base/instant.hpp"
#include "fdbpack/conf/environment.hpp"
#include "fdbpack/launcher/configuration.hpp"
#include "fdbpack/launcher/copy_plan.hpp"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace fdbpack::agent {

struct LauncherOptions {
  enum class Mode { launcher, init, sidecar };

  Mode mode = Mode::launcher;
  launcher::Rules rules;  // without the container's version, which is in `version_file`
  launcher::CopyRequest copies;
  std::string conf_path;  // absolute
  std::string output_dir = ".";
  std::string log_path;
  std::string version_file = "/var/fdb/version";
  std::string main_container_version;
  std::string additional_env_file;
  std::string listen_address = ":8081";
  std::string certificate_path;
  std::string certificate_key_path;
  bool enables_pprof = false;
  bool watches_node = false;

  // Not of fdb-kubernetes-monitor.
  std::string state_dir;  // absolute
  std::string cluster_file = "/var/fdb/data/fdb.cluster";
  std::string service_account_dir = "/var/run/secrets/kubernetes.io/serviceaccount";
  Duration stop_grace = std::chrono::seconds(10);
  bool keeps_children = false;
  HttpOptions http;  // of the agent's API; metrics have options of their own
};

// Options, or the code with which the program ends at once: after --help, and after an error that
// was said on stderr. `arguments` are those behind the program's name and mode.
[[nodiscard]] std::variant<LauncherOptions, int> parse_launcher_options(
    const std::vector<std::string>& arguments, const conf::Environment& environment);

// Where ":8081", "127.0.0.1:8081" or "[::1]:8081" means to listen.
struct ListenPlace {
  std::vector<std::string> addresses;  // as many as can be had
  std::uint16_t port = 0;
};
[[nodiscard]] Result<ListenPlace> parse_listen_place(std::string_view text);

}  // namespace fdbpack::agent
