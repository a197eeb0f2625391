// SPDX-License-Identifier: Apache-2.0
//
// Where a client connects to: "http://db-1:2379", "https://[::1]",
// "unix:///run/fdbpack/agent.sock".
#pragma once

#include "fdbpack/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace fdbpack::http {

struct Endpoint {
  std::string host;  // a name or an address, without brackets; empty with a path
  std::uint16_t port = 0;
  bool is_tls = false;
  std::string unix_path;

  bool operator==(const Endpoint&) const = default;
};

// A port that is not given is the scheme's. A path behind the port may only be "/".
[[nodiscard]] Result<Endpoint> parse_endpoint(std::string_view url);
// As it was given, more or less.
[[nodiscard]] std::string to_string(const Endpoint& endpoint);
// What a request says in its Host field.
[[nodiscard]] std::string host_field(const Endpoint& endpoint);

}  // namespace fdbpack::http
