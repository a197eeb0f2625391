// SPDX-License-Identifier: Apache-2.0
//
// Where a fdbserver accepts connections, read off its command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fdbpack::agent {

struct ListenAddress {
  std::string ip;
  std::uint16_t port = 0;
  bool operator==(const ListenAddress&) const = default;
};

// The first listen address, or the first public address where it listens at that; addresses
// of all interfaces are asked at the loopback. None: there is none that can be asked.
[[nodiscard]] std::optional<ListenAddress> listen_address(const std::vector<std::string>& argv);

// All addresses that it binds, as they are written; the ip may be "auto".
[[nodiscard]] std::vector<ListenAddress> bound_addresses(const std::vector<std::string>& argv);

}  // namespace fdbpack::agent
