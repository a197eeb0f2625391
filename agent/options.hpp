// SPDX-License-Identifier: Apache-2.0
//
// The command line, checked.
#pragma once

#include "agent/http_options.hpp"
#include "fdbpack/base/instant.hpp"

#include <string>
#include <variant>

namespace fdbpack::agent {

enum class Mode { monitor, run };

struct Options {
  Mode mode = Mode::monitor;
  std::string conf_path = "/etc/foundationdb/foundationdb.conf";  // run: the configuration
  std::string templates;  // run: a folder of templates that override ours; empty: none
  std::string lock_path = "/var/run/fdbmonitor.pid";
  std::string state_dir;        // empty: "<lock file>.state"
  std::string cgroup = "auto";  // a delegated cgroup v2 directory, "auto" or "off"
  std::string log_group = "default";
  bool is_daemon = false;
  bool is_fdbmonitor = false;   // called by that name
  std::string log_format;       // fdbmonitor, text, json; empty: nothing was asked for
  std::string log_to = "auto";  // stderr, journal, syslog
  bool dies_with_agent = false;
  bool keeps_children = false;
  Duration stop_grace = std::chrono::seconds(10);
  HttpOptions http;
};

struct ExitCode {
  int code = 0;
};

// Options with absolute paths, or with what the program is to end at once: after --help, and after
// an error that was said on stderr. Called as `fdbmonitor` it is the monitor.
[[nodiscard]] std::variant<Options, ExitCode> parse_options(int argc, const char* const* argv);

}  // namespace fdbpack::agent
