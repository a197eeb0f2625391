// SPDX-License-Identifier: Apache-2.0
//
// An IPv4 or IPv6 address as a value. Text goes in as people write it and comes out in one form
// (RFC 5952), so that two spellings of one address compare equal.
//
//   "10.0.0.7"        v4; four decimal numbers without leading zeros
//   "0100::2"         v6, printed "100::2"
//   "::ffff:1.2.3.4"  v6 with a v4 tail, printed so
//
// A zone ("fe80::1%eth0") is not read: an address that only means something on one host cannot be
// told to another.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fdbpack::model {

enum class IpFamily { v4, v6 };

struct IpAddress {
  IpFamily family = IpFamily::v4;
  std::array<std::uint8_t, 16> bytes{};  // network order; v4 uses the first four, the rest is zero

  auto operator<=>(const IpAddress&) const = default;
};

// The whole text is one address without brackets.
[[nodiscard]] std::optional<IpAddress> parse_ip(std::string_view text);
[[nodiscard]] std::string to_string(const IpAddress& address);

}  // namespace fdbpack::model
