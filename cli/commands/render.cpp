// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/render.hpp"

#include "cli/commands/spec.hpp"
#include "fdbpack/base/text.hpp"
#include "fdbpack/conf/group_render.hpp"
#include "fdbpack/conf/monitor_conf.hpp"
#include "fdbpack/conf/unified.hpp"
#include "fdbpack/wire/unified_json.hpp"
#include "ports/template_folder.hpp"

#include <fmt/format.h>

namespace fdbpack::cli {
namespace {

template <class T>
using Step = tl::expected<T, Outcome>;

tl::unexpected<Outcome> stop(ExitCode code, std::string_view message) {
  return tl::unexpected(failure(code, message));
}

// Runs the steps of one render; each either gives its value or the outcome that ends the command.
class Renderer {
 public:
  Renderer(const RenderOptions& options, ports::FileReader& files,
           ports::TemplateRenderer& templates)
      : options_(options), files_(files), templates_(templates) {}

  Outcome run() {
    auto text = render_format();
    if (!text) return std::move(text.error());
    Outcome outcome;
    outcome.out = *std::move(text);
    outcome.error = std::move(warnings_);
    return outcome;
  }

 private:
  Step<std::string> render_format() {
    if (auto status = load(); !status) return tl::unexpected(std::move(status.error()));
    switch (options_.format) {
      case RenderFormat::conf:
        return filled_conf();
      case RenderFormat::argv:
        return argv();
      case RenderFormat::unified_json:
        return unified_json();
      case RenderFormat::unified_argv:
        return unified_argv();
    }
    return stop(ExitCode::internal, "there is no such format");
  }

  Step<void> load() {
    auto spec = load_spec(options_.spec_file, files_);
    if (!spec) return tl::unexpected(std::move(spec.error()));
    version_ = to_string(spec->version);
    const auto process_class = model::parse_process_class(options_.process_class);
    if (!process_class) return stop(ExitCode::usage, process_class.error().message);
    if (!spec->processes.contains(*process_class)) {
      warnings_ +=
          fmt::format("the spec asks for no {} processes; this is what one would be run with\n",
                      options_.process_class);
    }
    auto group = conf::group_conf(
        *spec, {*process_class, options_.set, options_.density, options_.listeners});
    if (!group) return stop(ExitCode::usage, group.error().message);
    group_ = *std::move(group);
    group_.port_slot = options_.port_slot;
    group_.ip_family = options_.ip_family;
    group_.has_connection_string = options_.has_connection_string;
    group_.is_always_numbered =
        options_.is_always_numbered.value_or(options_.format == RenderFormat::unified_argv);
    return load_environment();
  }

  Step<void> load_environment() {
    if (!options_.env_file.empty()) {
      const auto text = files_.read(options_.env_file);
      if (!text) return stop(ExitCode::no_input, text.error().message);
      auto environment = conf::parse_env_file(*text);
      if (!environment) {
        return stop(ExitCode::data,
                    fmt::format("{}: {}", options_.env_file, environment.error().message));
      }
      environment_ = *std::move(environment);
    }
    if (!options_.process_group.empty()) {
      const auto id = model::parse_process_group_id(options_.process_group);
      if (!id) return stop(ExitCode::usage, id.error().message);
      if (id->process_class != group_.process_class) {
        warnings_ += fmt::format("process group {} is not of class {}\n", options_.process_group,
                                 options_.process_class);
      }
      environment_.insert_or_assign("FDB_INSTANCE_ID", options_.process_group);
    }
    return {};
  }

  Step<std::string> conf_with_variables() {
    if (options_.templates_directory.empty()) {
      auto text = conf::render_builtin(group_);
      if (!text) return stop(ExitCode::data, text.error().message);
      return *std::move(text);
    }
    if (const auto values = conf::template_values(group_); !values) {
      return stop(ExitCode::data, values.error().message);
    }
    const auto templates = ports::read_templates(files_, options_.templates_directory);
    if (!templates) return stop(ExitCode::no_input, templates.error().message);
    auto text = conf::render_by(*templates, options_.templates_directory, group_,
                                [&](const auto& set, const auto& file, const auto& values) {
                                  return templates_.render(set, file, values);
                                });
    if (!text) return stop(ExitCode::configuration, text.error().message);
    return *std::move(text);
  }

  Step<std::string> filled_conf() {
    auto text = conf_with_variables();
    if (!text || environment_.empty()) return text;
    auto filled =
        conf::fill_variables(*text, environment_, {options_.ip_family, !options_.env_file.empty()});
    if (!filled) return stop(ExitCode::data, filled.error().message);
    return *std::move(filled);
  }

  Step<std::string> argv() {
    const auto text = filled_conf();
    if (!text) return text;
    std::string lines;
    for (const auto& process : conf::resolve(conf::parse(*text).document).processes) {
      lines += text::join(process.argv, " ") + "\n";
    }
    return lines;
  }

  Step<conf::UnifiedConf> unified() {
    auto unified = conf::unified_conf(group_, version_);
    if (!unified) return stop(ExitCode::data, unified.error().message);
    return *std::move(unified);
  }

  Step<std::string> unified_json() {
    const auto conf = unified();
    if (!conf) return tl::unexpected(conf.error());
    return wire::write_unified_conf(*conf);
  }

  Step<std::string> unified_argv() {
    const auto conf = unified();
    if (!conf) return tl::unexpected(conf.error());
    if (conf->run_servers == false) return std::string();
    conf::Environment environment = environment_;
    environment.emplace("BINARY_DIR", "/usr/bin");
    if (options_.env_file.empty()) leave_variables_in(conf->arguments, environment);
    std::string lines;
    for (int number = 1; number <= group_.density; ++number) {
      const auto words =
          conf::generate_all(*conf, number, environment, environment["BINARY_DIR"] + "/fdbserver");
      if (!words) return stop(ExitCode::data, words.error().message);
      lines += text::join(*words, " ") + "\n";
    }
    return lines;
  }

  static void leave_variables_in(const std::vector<conf::UnifiedArgument>& arguments,
                                 conf::Environment& environment) {
    for (const auto& argument : arguments) {
      if (!argument.source.empty()) environment.emplace(argument.source, "$" + argument.source);
      leave_variables_in(argument.values, environment);
    }
  }

  const RenderOptions& options_;
  ports::FileReader& files_;
  ports::TemplateRenderer& templates_;
  conf::GroupConf group_;
  std::string version_;
  conf::Environment environment_;
  std::string warnings_;
};

}  // namespace

Outcome render(const RenderOptions& options, ports::FileReader& files,
               ports::TemplateRenderer& templates) {
  return Renderer(options, files, templates).run();
}

}  // namespace fdbpack::cli
