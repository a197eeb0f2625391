// SPDX-License-Identifier: Apache-2.0
//
// fdbpack: the command-line tool. This file knows the options and builds the objects; commands/
// does the work.
#include "adapters/files/local_file_reader.hpp"
#include "adapters/template_worker/template_worker.hpp"
#include "cli/commands/conf.hpp"
#include "cli/commands/render.hpp"
#include "cli/commands/spec.hpp"
#include "cli/placement_options.hpp"

#include <CLI/CLI.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <sstream>
#include <string_view>

namespace fdbpack::cli {
namespace {

// What every command gets, and what the chosen one has to say.
struct Session {
  adapters::LocalFileReader files;
  adapters::TemplateWorker templates;
  Screen screen;
  std::function<Outcome()> chosen;
};

void add_render(CLI::App& app, Session& session) {
  static RenderOptions options;
  static std::string tls;
  static const std::map<std::string, RenderFormat> formats{
      {"conf", RenderFormat::conf},
      {"argv", RenderFormat::argv},
      {"unified-json", RenderFormat::unified_json},
      {"unified-argv", RenderFormat::unified_argv}};
  static const std::map<std::string, conf::Listeners> listeners{
      {"on", {true, false}}, {"off", {false, true}}, {"both", {true, true}}};
  auto* command =
      app.add_subcommand("render", "Render the conf or the command lines of a process group");
  command->add_option("--spec", options.spec_file, "cluster spec, a JSON file; - is standard input")
      ->required();
  command->add_option("--class", options.process_class, "process class, e.g. storage")->required();
  command->add_option("--set", options.set, "set of that class")->capture_default_str();
  command->add_option("--density", options.density, "servers per disk, instead of the spec's")
      ->check(CLI::Range(1, 65535));
  command
      ->add_option("--tls", tls,
                   "listeners, instead of the spec's: on, off, or both while TLS is switched")
      ->check(CLI::IsMember({"on", "off", "both"}));
  command->add_option("--env-file", options.env_file,
                      "values of one host, NAME=value lines, to fill in");
  command->add_option("--process-group", options.process_group,
                      "ID of the process group, e.g. storage-1");
  command->add_option("--templates", options.templates_directory,
                      "folder of templates that override ours");
  static std::string format = "conf";
  command->add_option("--format", format, "conf, argv, unified-json or unified-argv")
      ->transform(CLI::IsMember(formats, CLI::ignore_case))
      ->option_text("FORMAT");
  command
      ->add_option("--port-slot", options.port_slot,
                   "first pair of ports on a host of several groups")
      ->check(CLI::Range(0, 65535));
  command
      ->add_option("--ip-family", options.ip_family,
                   "4 or 6, where a variable lists several addresses")
      ->check(CLI::IsMember({4, 6}));
  static bool is_numbered = false;
  static bool is_plain = false;
  command->add_flag(
      "--numbered", is_numbered,
      "number data directory and process ID at density 1 too (default for unified-argv)");
  command->add_flag("--not-numbered", is_plain, "number them above density 1 only")
      ->excludes("--numbered");
  command->add_flag("!--no-connection-string", options.has_connection_string,
                    "render for a cluster that has no connection string yet");
  command->footer(
      "Example:\n  fdbpack render --spec examples/sample-cluster.json --class storage --density 2");
  command->callback([&session] {
    options.format = formats.at(format);
    if (!tls.empty()) options.listeners = listeners.at(tls);
    if (is_numbered || is_plain) options.is_always_numbered = is_numbered;
    session.chosen = [&session] { return render(options, session.files, session.templates); };
  });
}

void add_conf(CLI::App& app, Session& session) {
  static ConfOptions options;
  static const std::map<std::string, conf::Dialect> dialects{
      {"7.1", conf::Dialect::v7_1}, {"7.3", conf::Dialect::v7_3}, {"7.4", conf::Dialect::v7_4}};
  auto* group = app.add_subcommand("conf", "Look at a conf of fdbmonitor");
  group->require_subcommand(1);
  group->footer("Example:\n  fdbpack conf check /etc/foundationdb/foundationdb.conf");
  static std::string dialect = "7.3";
  const auto add_common = [](CLI::App* command) {
    command->add_option("file", options.file, "the conf; - is standard input")
        ->required()
        ->option_text("FILE");
    command->add_option("--fdbmonitor", dialect, "read it as this release does: 7.1, 7.3 or 7.4")
        ->check(CLI::IsMember(dialects))
        ->option_text("VERSION");
  };
  auto* check =
      group->add_subcommand("check", "Report everything that is wrong, with line and column");
  add_common(check);
  check->footer("Example:\n  fdbpack conf check /etc/foundationdb/foundationdb.conf");
  check->callback([&session] {
    options.dialect = dialects.at(dialect);
    session.chosen = [&session] { return conf_check(options, session.files); };
  });
  auto* argv = group->add_subcommand("argv", "Print the command lines fdbmonitor would run");
  add_common(argv);
  argv->add_flag("--json", options.is_json,
                 R"(as {"processes":[{"section":…,"argv":[…]}],"errors":[…]})");
  argv->footer("Example:\n  fdbpack conf argv --json /etc/foundationdb/foundationdb.conf");
  argv->callback([&session] {
    options.dialect = dialects.at(dialect);
    session.chosen = [&session] { return conf_argv(options, session.files); };
  });
}

void add_spec(CLI::App& app, Session& session) {
  static std::string file;
  auto* group = app.add_subcommand("spec", "Look at the spec of a cluster");
  group->require_subcommand(1);
  group->footer("Example:\n  fdbpack spec check examples/sample-cluster.json");
  auto* check =
      group->add_subcommand("check", "Report everything that is wrong, with its place in the JSON");
  check->add_option("file", file, "cluster spec, a JSON file; - is standard input")
      ->required()
      ->option_text("FILE");
  check->footer("Example:\n  fdbpack spec check examples/sample-cluster.json");
  check->callback(
      [&session] { session.chosen = [&session] { return spec_check(file, session.files); }; });
}

// One sentence a line, each with the program's name in front.
void print_errors(std::string_view lines) {
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    std::fprintf(stderr, "fdbpack: %s\n", printable(lines.substr(0, end)).c_str());
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
}

int print(const Outcome& outcome) {
  std::fwrite(outcome.out.data(), 1, outcome.out.size(), stdout);
  // A conf ends without a newline; a person at a terminal should still get a prompt of his own.
  const bool is_open_line = !outcome.out.empty() && outcome.out.back() != '\n';
  if (is_open_line && ::isatty(STDOUT_FILENO) == 1) std::fputc('\n', stdout);
  const bool is_written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  print_errors(outcome.error);
  if (!is_written) {
    print_errors("standard output cannot be written");
    return static_cast<int>(ExitCode::internal);
  }
  return static_cast<int>(outcome.code);
}

// CLI11 says that a command is required also where there was one that it does not know.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  const auto chosen = app.get_subcommands();
  const int depth = chosen.empty() ? 1 : 2;
  const bool lacks_command = chosen.empty() || std::string_view(error.what()).starts_with("A sub");
  if (!lacks_command || argc <= depth) return error.what();
  const std::string word = argv[depth];
  if (word.starts_with('-')) return "there is no option " + word + " here";
  return "there is no command '" +
         (chosen.empty() ? word : chosen.front()->get_name() + " " + word) + "'";
}

int run(int argc, char** argv) {
  Session session;
  session.screen.has_colour =
      has_colour(::isatty(STDOUT_FILENO) == 1, std::getenv("NO_COLOR"), std::getenv("TERM"));
  session.screen.has_progress = has_progress(::isatty(STDERR_FILENO) == 1, std::getenv("TERM"));
  winsize window{};
  const bool has_size = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0;
  session.screen.columns = columns_of(std::getenv("COLUMNS"), has_size ? window.ws_col : 0U);
  CLI::App app{"fdbpack runs FoundationDB on pods and on bare metal.", "fdbpack"};
  app.set_version_flag("--version", "fdbpack " FDBPACK_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Example:\n  fdbpack render --spec examples/sample-cluster.json --class storage --density "
      "2\n\n"
      "Exit codes: 0 good, 1 not everything fits, 64 usage, 65 bad data, 66 no input, 70 our "
      "fault, 78 configuration.");
  add_render(app, session);
  add_conf(app, session);
  add_spec(app, session);
  add_placement(app, session.files, session.screen, session.chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      std::ostringstream text;
      (void)app.exit(error, text, text);
      Outcome help;
      help.out = text.str();
      return print(help);
    }
    print_errors(usage_error(app, error, argc, argv) + "; see --help");
    return static_cast<int>(ExitCode::usage);
  }
  return print(session.chosen());
}

}  // namespace
}  // namespace fdbpack::cli

int main(int argc, char** argv) {
  using namespace fdbpack;
  if (argc == 2 && std::string_view(argv[1]) == adapters::kTemplateWorkerCommand)
    return adapters::run_template_worker();
  try {
    return cli::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fdbpack: this is our fault: %s\n", error.what());
    return static_cast<int>(cli::ExitCode::internal);
  }
}
