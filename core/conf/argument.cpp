// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/conf/argument.hpp"

#include "fdbpack/base/overloaded.hpp"
#include "fdbpack/base/text.hpp"
#include "fdbpack/model/ip.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace fdbpack::conf {
namespace {

Result<std::string> lookup(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  if (found == environment.end()) {
    return fail(ErrorCode::not_found, fmt::format("missing environment variable {}", name));
  }
  return found->second;
}

// Of three ints; it always fits.
std::int64_t value_of(const ProcessNumber& number, int n) {
  return std::int64_t{n} * number.multiplier + number.offset;
}

Result<std::string> part_for(const Part& part, int number, const Environment& environment) {
  return std::visit(
      Overloaded{
          [](const Text& text) -> Result<std::string> { return text.text; },
          [&](const Variable& variable) { return lookup(environment, variable.name); },
          [&](const ProcessNumber& port) -> Result<std::string> {
            return fmt::format("{}", value_of(port, number));
          },
          [&](const IpOfFamily& ip) -> Result<std::string> {
            FDBPACK_TRY(const std::string list, lookup(environment, ip.name));
            return pick_ip(list, ip.family);
          },
      },
      part);
}

// The argument of a program ends at a NUL: the rest would be lost without a word.
Result<std::string> without_nul(std::string text) {
  if (text.find('\0') == std::string::npos) return text;
  return fail(ErrorCode::invalid_argument, "a value holds a NUL character");
}

}  // namespace

std::string value_text(const Argument& argument, int number) {
  std::string value;
  for (const Part& part : argument.value) {
    std::visit(
        Overloaded{
            [&](const Text& text) { value += text.text; },
            [&](const Variable& variable) { value += "$" + variable.name; },
            [&](const ProcessNumber& port) { value += fmt::format("{}", value_of(port, number)); },
            [&](const IpOfFamily& ip) { value += "$" + ip.name; },
        },
        part);
  }
  return value;
}

Result<std::string> value_for(const Argument& argument, int number,
                              const Environment& environment) {
  std::string value;
  for (const Part& part : argument.value) {
    FDBPACK_TRY(const std::string text, part_for(part, number, environment));
    value += text;
  }
  return without_nul(std::move(value));
}

Result<std::string> pick_ip(std::string_view list, int family) {
  if (family != 4 && family != 6) {
    return fail(ErrorCode::invalid_argument, fmt::format("unsupported IP family {}", family));
  }
  for (const std::string_view item : text::split(list, ',')) {
    const auto ip = model::parse_ip(text::trim(item));
    if (ip && (ip->family == model::IpFamily::v6) == (family == 6))
      return std::string(text::trim(item));
  }
  return fail(ErrorCode::not_found, fmt::format("could not find IP with family {}", family));
}

}  // namespace fdbpack::conf
