// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/launcher/environment.hpp"

#include "fdbpack/base/text.hpp"
#include "fdbpack/conf/path.hpp"

#include <algorithm>

namespace fdbpack::launcher {
namespace {

constexpr std::string_view kExport = "export ";

bool is_name_character(char c) {
  return text::is_digit(c) || c == '_' || (text::lower(c) >= 'a' && text::lower(c) <= 'z');
}

// Wherever `export NAME=` stands in the line; the rest of the line is the value.
bool take_variable(std::string_view line, conf::Environment& variables) {
  for (auto at = line.find(kExport); at != std::string_view::npos;
       at = line.find(kExport, at + 1)) {
    const std::string_view rest = line.substr(at + kExport.size());
    const auto* const end = std::find_if_not(rest.begin(), rest.end(), is_name_character);
    const auto size = static_cast<std::size_t>(end - rest.begin());
    if (size == 0 || size == rest.size() || rest[size] != '=') continue;
    variables.insert_or_assign(std::string(rest.substr(0, size)),
                               std::string(rest.substr(size + 1)));
    return true;
  }
  return false;
}

Status add_used(const conf::UnifiedArgument& argument, const conf::Environment& environment,
                conf::Environment& used) {
  if (!argument.source.empty()) {
    // Whatever the argument's type, its source is looked up; a list of addresses as it was used.
    conf::UnifiedArgument looked_up = argument;
    if (argument.type != "IPList") looked_up.type = "Environment";
    FDBPACK_TRY(std::string value, conf::generate(looked_up, 1, environment));
    used.insert_or_assign(argument.source, std::move(value));
  }
  for (const auto& part : argument.values)
    FDBPACK_TRY_VOID(add_used(part, environment, used));
  return {};
}

}  // namespace

AdditionalEnvironment parse_additional_environment(std::string_view text) {
  AdditionalEnvironment result;
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.empty()) return result;
  for (std::string_view line : text::split(text, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!take_variable(line, result.variables)) result.refused.emplace_back(line);
  }
  return result;
}

conf::Environment with_node_labels(conf::Environment environment, const conf::Environment& labels) {
  for (const auto& [label, value] : labels) {
    std::string name = "NODE_LABEL_";
    for (const char c : label) {
      const bool is_letter = c >= 'a' && c <= 'z';
      name += is_letter ? static_cast<char>(c - 'a' + 'A') : (c == '/' || c == '.' ? '_' : c);
    }
    environment.emplace(std::move(name), value);
  }
  return environment;
}

Result<conf::Environment> used_environment(const Configuration& configuration,
                                           const conf::Environment& environment) {
  conf::Environment used;
  for (const auto& argument : configuration.conf.arguments)
    FDBPACK_TRY_VOID(add_used(argument, environment, used));
  const std::string directory = conf::pop_path(configuration.binary_path);
  used.insert_or_assign("BINARY_DIR", conf::clean_path(directory));
  return used;
}

}  // namespace fdbpack::launcher
