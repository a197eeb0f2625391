// SPDX-License-Identifier: Apache-2.0
//
// Where an fdbserver listens or is reached, in FoundationDB's own notation:
//
//   10.0.0.7:4501            127.0.0.1:4500:tls        [::1]:4500:tls
//   db-7.example.org:4501    $FDB_PUBLIC_IP:4501       10.0.0.7:4501(fromHostname)
//   10.0.0.7                 ::1                       (no port)
//
// `(fromHostname)` is how FoundationDB marks an IP address that it looked up from a name. IPv6 is
// stored and printed in its shortest form, so that addresses compare as text.
#pragma once

#include "fdbpack/base/result.hpp"

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fdbpack::model {

enum class HostKind { ipv4, ipv6, name, placeholder };

struct Address {
  std::string host;        // canonical and without brackets: an IP address, a host name or `$NAME`
  std::uint16_t port = 0;  // 0 means none
  bool tls = false;        // never without a port
  bool from_hostname = false;

  auto operator<=>(const Address&) const = default;
};

[[nodiscard]] HostKind kind_of_host(std::string_view host);

// FoundationDB wants brackets around IPv6; fdb-kubernetes-monitor's configuration has them around
// every host.
enum class Brackets { around_ipv6, always };

[[nodiscard]] Result<Address> parse_address(std::string_view text);
[[nodiscard]] std::string to_string(const Address& address,
                                    Brackets brackets = Brackets::around_ipv6);

// Addresses with commas between them; at least one, none empty.
[[nodiscard]] Result<std::vector<Address>> parse_addresses(std::string_view text);
[[nodiscard]] std::string to_string(const std::vector<Address>& addresses,
                                    Brackets brackets = Brackets::around_ipv6);

}  // namespace fdbpack::model
