// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/conf.hpp"

#include "fdbpack/base/text.hpp"
#include "fdbpack/wire/conf_json.hpp"

#include <fmt/format.h>

namespace fdbpack::cli {
namespace {

constexpr std::size_t kShownMax = 100;  // errors, and likewise warnings

}  // namespace

Outcome conf_check(const ConfOptions& options, ports::FileReader& files) {
  const auto text = files.read(options.file);
  if (!text) return failure(ExitCode::no_input, text.error().message);
  const auto found = conf::check(*text, {options.dialect});
  Outcome outcome;
  std::size_t errors = 0;
  std::size_t warnings = 0;
  for (const conf::Diagnostic& diagnostic : found) {
    const bool is_error = diagnostic.severity == conf::Severity::error;
    const std::size_t count = is_error ? ++errors : ++warnings;
    if (count <= kShownMax)
      outcome.error += fmt::format("{}:{}\n", options.file, conf::to_string(diagnostic));
  }
  const auto hidden = [](std::size_t count) { return count > kShownMax ? count - kShownMax : 0; };
  if (hidden(errors) + hidden(warnings) > 0) {
    outcome.error += fmt::format("{}: {} more errors and {} more warnings are not shown\n",
                                 options.file, hidden(errors), hidden(warnings));
  }
  if (errors > 0) {
    outcome.code = ExitCode::data;
    return outcome;
  }
  const auto processes =
      conf::resolve(conf::parse(*text).document, {options.dialect}).processes.size();
  outcome.out = fmt::format("{}: good, {} process{}, {} warning{}\n", options.file, processes,
                            processes == 1 ? "" : "es", found.size(), found.size() == 1 ? "" : "s");
  return outcome;
}

Outcome conf_argv(const ConfOptions& options, ports::FileReader& files) {
  const auto text = files.read(options.file);
  if (!text) return failure(ExitCode::no_input, text.error().message);
  const conf::ParsedDocument parsed = conf::parse(*text);
  const conf::MonitorConf resolved = conf::resolve(parsed.document, {options.dialect});
  std::vector<std::string> errors;
  for (const conf::Diagnostic& diagnostic : parsed.diagnostics) {
    if (diagnostic.severity == conf::Severity::error) errors.push_back(conf::to_string(diagnostic));
  }
  for (const auto& refusal : resolved.refusals)
    errors.push_back(refusal.message);

  Outcome outcome;
  if (options.is_json) {
    outcome.out = wire::write_command_lines(resolved.processes, errors) + "\n";
    return outcome;
  }
  for (const auto& process : resolved.processes)
    outcome.out += text::join(process.argv, " ") + "\n";
  for (const auto& error : errors)
    outcome.error += fmt::format("{}: {}\n", options.file, error);
  if (!errors.empty()) outcome.code = ExitCode::data;
  return outcome;
}

}  // namespace fdbpack::cli
