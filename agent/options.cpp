// SPDX-License-Identifier: Apache-2.0
#include "agent/options.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <vector>

namespace fdbpack::agent {
namespace {

constexpr int kUsageError = 1;  // as fdbmonitor

// fdbmonitor takes `-` and `_` in option names for the same, and `-?` for help.
std::string normal(std::string argument) {
  if (argument == "-?") return "--help";
  if (!argument.starts_with("--")) return argument;
  const auto end = std::min(argument.find('='), argument.size());
  std::replace(argument.begin() + 2, argument.begin() + static_cast<std::ptrdiff_t>(end), '_', '-');
  return argument;
}

void add_common(CLI::App& app, Options& options, double& grace_s) {
  app.add_option("--lockfile", options.lock_path, "Holds the pid; one agent for one lock file")
      ->capture_default_str();
  app.add_option("--statedir", options.state_dir, "State and status (default: <lockfile>.state)");
  app.add_option("--loggroup", options.log_group, "LogGroup of every log line")
      ->capture_default_str();
  app.add_flag("--daemonize", options.is_daemon, "Go to the background, log to syslog");
  app.add_option("--log-format", options.log_format,
                 "fdbmonitor, text or json; of lines to stderr (default: monitor: fdbmonitor, run: "
                 "text)")
      ->check(CLI::IsMember({"fdbmonitor", "text", "json"}));
  app.add_option("--log-to", options.log_to,
                 "stderr, journal, syslog, or auto: syslog with --daemonize, the journal where "
                 "stderr leads there and no format is given, else stderr")
      ->check(CLI::IsMember({"auto", "stderr", "journal", "syslog"}))
      ->capture_default_str();
  app.add_flag("--die-with-agent", options.dies_with_agent,
               "Processes get SIGHUP when the agent ends, however it ends");
  app.add_flag("--keep-children", options.keeps_children,
               "Leave the processes running when told to stop; the next agent takes them over");
  app.add_option("--cgroup", options.cgroup, "A cgroup v2 directory for the processes, auto or off")
      ->capture_default_str();
  app.add_option("--stop-grace", grace_s, "Seconds from SIGTERM to SIGKILL")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  add_http_options(app, options.http, "127.0.0.1:4490");
}

std::string absolute(const std::string& path) {
  std::error_code error;
  const auto result = std::filesystem::absolute(path, error);
  return error ? path : result.lexically_normal().string();
}

int refuse(const std::string& message) {
  std::cerr << message << "\n";
  return kUsageError;
}

int finish(Options& options) {
  if (options.log_group.find('"') != std::string::npos) {
    return refuse("--loggroup must not hold a quotation mark");
  }
  if (options.dies_with_agent && options.keeps_children) {
    return refuse("--die-with-agent and --keep-children exclude each other");
  }
  // A configuration may complete them later; alone they must make sense in `monitor`.
  if (options.mode == Mode::monitor) {
    if (const auto http = with_options({}, options.http, "/"); !http) {
      return refuse(http.error().message);
    }
  }
  options.conf_path = absolute(options.conf_path);
  options.lock_path = absolute(options.lock_path);
  if (!options.templates.empty()) options.templates = absolute(options.templates);
  options.state_dir =
      options.state_dir.empty() ? options.lock_path + ".state" : absolute(options.state_dir);
  return 0;
}

}  // namespace

std::variant<Options, ExitCode> parse_options(int argc, const char* const* argv) {
  Options options;
  std::vector<std::string> arguments;
  for (int i = 1; i < argc; ++i)
    arguments.push_back(normal(argv[i]));
  const std::string name = argc > 0 ? std::filesystem::path(argv[0]).filename().string() : "";
  options.is_fdbmonitor = name == "fdbmonitor";
  if (options.is_fdbmonitor) arguments.insert(arguments.begin(), "monitor");

  CLI::App app("Runs FoundationDB's processes on this host", "fdbpack-agent");
  app.require_subcommand(1);
  app.footer("fdbpack-agent sidecar --help: in place of FoundationDB's sidecar.py");
  app.set_version_flag("--version", FDBPACK_VERSION);
  double grace_s = 10;
  CLI::App& monitor = *app.add_subcommand("monitor", "In place of fdbmonitor: supervise a conf");
  monitor.add_option("--conffile", options.conf_path, "The conf")->capture_default_str();
  add_common(monitor, options, grace_s);
  if (options.is_fdbmonitor) monitor.set_version_flag("--version", FDBPACK_VERSION);
  CLI::App& run = *app.add_subcommand("run", "Supervise the process groups of a configuration");
  run.add_option("--config", options.conf_path, "The configuration, JSON")->required();
  run.add_option("--templates", options.templates, "Folder of templates that override ours");
  add_common(run, options, grace_s);
  try {
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error, std::cout, std::cerr);
    return ExitCode{code == 0 ? 0 : kUsageError};
  }
  options.mode = run.parsed() ? Mode::run : Mode::monitor;
  if (!std::isfinite(grace_s)) return ExitCode{refuse("--stop-grace must be a number of seconds")};
  options.stop_grace = std::chrono::milliseconds(static_cast<std::int64_t>(grace_s * 1000));
  if (const int code = finish(options); code != 0) return ExitCode{code};
  return options;
}

}  // namespace fdbpack::agent
