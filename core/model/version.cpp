// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/model/version.hpp"

#include "fdbpack/base/text.hpp"

#include <cstddef>
#include <limits>
#include <optional>

namespace fdbpack::model {
namespace {

struct Match {
  Version version;
  std::size_t length = 0;
};

// Eats the digits at the front of `text`.
std::optional<std::uint32_t> eat_number(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && text::is_digit(text[end]))
    ++end;
  const auto value = text::parse_decimal(text.substr(0, end));
  if (!value || *value > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  text.remove_prefix(end);
  return static_cast<std::uint32_t>(*value);
}

bool eat(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// \d+\.\d+\.\d+(-rc\d+)? at the front of `text`, as long as it goes.
std::optional<Match> match_here(std::string_view text) {
  std::string_view rest = text;
  const auto major = eat_number(rest);
  if (!major || !eat(rest, ".")) return std::nullopt;
  const auto minor = eat_number(rest);
  if (!minor || !eat(rest, ".")) return std::nullopt;
  const auto patch = eat_number(rest);
  if (!patch) return std::nullopt;
  Match match{{*major, *minor, *patch, 0}, text.size() - rest.size()};
  if (eat(rest, "-rc")) {
    if (const auto candidate = eat_number(rest)) {
      match.version.release_candidate = *candidate;
      match.length = text.size() - rest.size();
    }
  }
  return match;
}

auto not_a_version(std::string_view text) {
  return fail(ErrorCode::invalid_argument, "could not parse FDB version from " + std::string(text));
}

}  // namespace

std::strong_ordering Version::operator<=>(const Version& other) const {
  if (const auto order = major <=> other.major; order != 0) return order;
  if (const auto order = minor <=> other.minor; order != 0) return order;
  if (const auto order = patch <=> other.patch; order != 0) return order;
  const auto rank = [](std::uint32_t candidate) {
    return candidate == 0 ? std::numeric_limits<std::uint64_t>::max() : candidate;
  };
  return rank(release_candidate) <=> rank(other.release_candidate);
}

bool Version::is_protocol_compatible(const Version& other) const {
  return major == other.major && minor == other.minor &&
         release_candidate == other.release_candidate;
}

Result<Version> parse_version(std::string_view text) {
  const auto match = match_here(text);
  if (!match || match->length != text.size()) return not_a_version(text);
  return match->version;
}

Result<Version> find_version(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (const auto match = match_here(text.substr(at))) return match->version;
  }
  return not_a_version(text);
}

std::string to_string(const Version& version) {
  std::string result = std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
                       std::to_string(version.patch);
  if (version.release_candidate != 0) {
    result += "-rc" + std::to_string(version.release_candidate);
  }
  return result;
}

}  // namespace fdbpack::model
