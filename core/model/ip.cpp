// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/model/ip.hpp"

#include "fdbpack/base/text.hpp"

#include <cstddef>
#include <vector>

namespace fdbpack::model {
namespace {

constexpr std::size_t kGroups = 8;  // an IPv6 address is eight groups of 16 bits

using Groups = std::vector<std::uint16_t>;

std::optional<std::array<std::uint8_t, 4>> parse_v4_bytes(std::string_view text) {
  const auto parts = text::split(text, '.');
  if (parts.size() != 4) return std::nullopt;
  std::array<std::uint8_t, 4> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    // "010" is ten to some readers and eight to others, so it is no number here.
    if (parts[i].size() > 3 || (parts[i].size() > 1 && parts[i].front() == '0'))
      return std::nullopt;
    const auto value = text::parse_decimal(parts[i]);
    if (!value || *value > 255) return std::nullopt;
    bytes[i] = static_cast<std::uint8_t>(*value);
  }
  return bytes;
}

std::optional<std::uint16_t> parse_group(std::string_view text) {
  if (text.empty() || text.size() > 4) return std::nullopt;
  unsigned value = 0;
  for (const char raw : text) {
    const char c = text::lower(raw);
    if (text::is_digit(c)) {
      value = value * 16 + static_cast<unsigned>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      value = value * 16 + static_cast<unsigned>(c - 'a' + 10);
    } else {
      return std::nullopt;
    }
  }
  return static_cast<std::uint16_t>(value);
}

// The groups on one side of "::", or all of them. Only the last part of the whole text may be an
// IPv4 address.
std::optional<Groups> parse_groups(std::string_view text, bool is_last_side) {
  Groups groups;
  if (text.empty()) return groups;
  const auto parts = text::split(text, ':');
  if (parts.size() > kGroups) return std::nullopt;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool is_last = is_last_side && i + 1 == parts.size();
    if (is_last && parts[i].find('.') != std::string_view::npos) {
      const auto tail = parse_v4_bytes(parts[i]);
      if (!tail) return std::nullopt;
      groups.push_back(static_cast<std::uint16_t>((*tail)[0] << 8 | (*tail)[1]));
      groups.push_back(static_cast<std::uint16_t>((*tail)[2] << 8 | (*tail)[3]));
      continue;
    }
    const auto group = parse_group(parts[i]);
    if (!group) return std::nullopt;
    groups.push_back(*group);
  }
  return groups;
}

std::optional<Groups> parse_v6_groups(std::string_view text) {
  const std::size_t gap = text.find("::");
  if (gap == std::string_view::npos) {
    auto groups = parse_groups(text, true);
    if (!groups || groups->size() != kGroups) return std::nullopt;
    return groups;
  }
  auto groups = parse_groups(text.substr(0, gap), false);
  const auto tail = parse_groups(text.substr(gap + 2), true);
  // "::" stands for at least one group of zeros.
  if (!groups || !tail || groups->size() + tail->size() >= kGroups) return std::nullopt;
  groups->resize(kGroups - tail->size());
  groups->insert(groups->end(), tail->begin(), tail->end());
  return groups;
}

std::string print_v4(const std::uint8_t* bytes) {
  std::string result;
  for (int i = 0; i < 4; ++i) {
    if (i > 0) result += '.';
    result += std::to_string(bytes[i]);
  }
  return result;
}

std::string print_group(std::uint16_t group) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string result;
  for (int shift = 12; shift >= 0; shift -= 4) {
    const auto digit = static_cast<std::size_t>(group >> shift & 0xF);
    if (digit != 0 || !result.empty() || shift == 0) result += kDigits[digit];
  }
  return result;
}

struct Run {
  std::size_t start = 0;
  std::size_t length = 0;
};

// The first of the longest runs of zeros; a single zero is not shortened (RFC 5952, 4.2.2).
Run longest_zero_run(const Groups& groups) {
  Run best;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::size_t end = i;
    while (end < groups.size() && groups[end] == 0)
      ++end;
    if (end - i > best.length) best = {i, end - i};
    if (end > i) i = end;
  }
  return best.length > 1 ? best : Run{};
}

}  // namespace

std::optional<IpAddress> parse_ip(std::string_view text) {
  IpAddress address;
  if (text.find(':') == std::string_view::npos) {
    const auto bytes = parse_v4_bytes(text);
    if (!bytes) return std::nullopt;
    for (std::size_t i = 0; i < bytes->size(); ++i)
      address.bytes[i] = (*bytes)[i];
    return address;
  }
  const auto groups = parse_v6_groups(text);
  if (!groups) return std::nullopt;
  address.family = IpFamily::v6;
  for (std::size_t i = 0; i < kGroups; ++i) {
    address.bytes[2 * i] = static_cast<std::uint8_t>((*groups)[i] >> 8);
    address.bytes[2 * i + 1] = static_cast<std::uint8_t>((*groups)[i] & 0xFF);
  }
  return address;
}

std::string to_string(const IpAddress& address) {
  if (address.family == IpFamily::v4) return print_v4(address.bytes.data());
  Groups groups(kGroups);
  for (std::size_t i = 0; i < kGroups; ++i) {
    groups[i] = static_cast<std::uint16_t>(address.bytes[2 * i] << 8 | address.bytes[2 * i + 1]);
  }
  // IPv4-mapped addresses are read more easily with their IPv4 tail (RFC 5952, 5).
  const Run zeros = longest_zero_run(groups);
  if (zeros.start == 0 && zeros.length == 5 && groups[5] == 0xFFFF) {
    return "::ffff:" + print_v4(address.bytes.data() + 12);
  }
  std::string result;
  for (std::size_t i = 0; i < kGroups; ++i) {
    if (zeros.length > 0 && i == zeros.start) {
      result += "::";
      i += zeros.length - 1;
      continue;
    }
    if (!result.empty() && result.back() != ':') result += ':';
    result += print_group(groups[i]);
  }
  return result;
}

}  // namespace fdbpack::model
