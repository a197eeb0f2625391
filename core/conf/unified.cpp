// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/conf/unified.hpp"

#include "fdbpack/base/overloaded.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace fdbpack::conf {
namespace {

UnifiedArgument text_argument(std::string text) {
  UnifiedArgument argument;
  argument.value = std::move(text);
  return argument;
}

UnifiedArgument part_argument(const Part& part) {
  UnifiedArgument argument;
  std::visit(Overloaded{
                 [&](const Text& text) { argument.value = text.text; },
                 [&](const Variable& variable) {
                   argument.type = "Environment";
                   argument.source = variable.name;
                 },
                 [&](const ProcessNumber& number) {
                   argument.type = "ProcessNumber";
                   argument.multiplier = number.multiplier == 1 ? 0 : number.multiplier;
                   argument.offset = number.offset;
                 },
                 [&](const IpOfFamily& ip) {
                   argument.type = "IPList";
                   argument.source = ip.name;
                   argument.ip_family = ip.family;
                 },
             },
             part);
  return argument;
}

UnifiedArgument concatenate(std::vector<UnifiedArgument> values) {
  UnifiedArgument argument;
  argument.type = "Concatenate";
  argument.values = std::move(values);
  return argument;
}

// The operator writes a custom parameter as name and value, and names the type of plain text there.
UnifiedArgument custom_argument(const Argument& argument) {
  std::vector<UnifiedArgument> values{text_argument(fmt::format("--{}=", argument.key)),
                                      part_argument(argument.value.front())};
  for (UnifiedArgument& value : values) {
    if (value.type.empty()) value.type = "Literal";
  }
  return concatenate(std::move(values));
}

UnifiedArgument convert(const Argument& argument) {
  if (argument.is_custom) return custom_argument(argument);
  std::vector<UnifiedArgument> values{text_argument(fmt::format("--{}=", argument.key))};
  for (const Part& part : argument.value) {
    const Text* text = std::get_if<Text>(&part);
    if (text != nullptr && values.size() == 1) {
      values.front().value += text->text;
    } else {
      values.push_back(part_argument(part));
    }
  }
  if (values.size() == 1) return std::move(values.front());
  return concatenate(std::move(values));
}

Result<std::string> variable(const UnifiedArgument& argument, const Environment& environment) {
  const Argument as_variable{"", {Variable{argument.source}}};
  return value_for(as_variable, 0, environment);
}

}  // namespace

Result<UnifiedConf> unified_conf(const GroupConf& group, std::string version) {
  GroupConf bracketed = group;
  bracketed.brackets_every_ip = true;
  FDBPACK_TRY(const std::vector<Argument> list, arguments(bracketed));
  UnifiedConf conf;
  conf.version = std::move(version);
  if (!group.has_connection_string) conf.run_servers = false;
  for (const Argument& argument : list)
    conf.arguments.push_back(convert(argument));
  return conf;
}

Result<std::string> generate(const UnifiedArgument& argument, int number,
                             const Environment& environment) {
  if (argument.type.empty() || argument.type == "Literal") return argument.value;
  if (argument.type == "Environment") return variable(argument, environment);
  if (argument.type == "ProcessNumber") {
    const std::int64_t multiplier = argument.multiplier == 0 ? 1 : argument.multiplier;
    std::int64_t value = 0;
    if (__builtin_mul_overflow(multiplier, number, &value) ||
        __builtin_add_overflow(value, argument.offset, &value)) {
      return fail(ErrorCode::invalid_argument, fmt::format("{} * {} + {} is too large a number",
                                                           number, multiplier, argument.offset));
    }
    return fmt::format("{}", value);
  }
  if (argument.type == "IPList") {
    FDBPACK_TRY(const std::string list, variable(argument, environment));
    return pick_ip(list, argument.ip_family);
  }
  if (argument.type == "Concatenate") {
    std::string text;
    for (const UnifiedArgument& value : argument.values) {
      FDBPACK_TRY(const std::string part, generate(value, number, environment));
      text += part;
    }
    return text;
  }
  return fail(ErrorCode::invalid_argument,
              fmt::format("unsupported argument type {}", argument.type));
}

Result<std::vector<std::string>> generate_all(const UnifiedConf& conf, int number,
                                              const Environment& environment,
                                              const std::string& binary) {
  std::vector<std::string> words;
  if (!binary.empty()) words.push_back(binary);
  for (const UnifiedArgument& argument : conf.arguments) {
    FDBPACK_TRY(std::string word, generate(argument, number, environment));
    // A program would be given what is before it, and nobody would be told.
    if (word.find('\0') != std::string::npos) {
      return fail(ErrorCode::invalid_argument, "an argument holds a NUL character");
    }
    words.push_back(std::move(word));
  }
  return words;
}

}  // namespace fdbpack::conf
