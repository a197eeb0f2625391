// SPDX-License-Identifier: Apache-2.0
//
// Who holds what a process needs and did not get: a port, or a data directory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace fdbpack::ports {

struct Holder {
  int pid = 0;  // 0: somebody holds it, but who cannot be seen
  std::string name;
};

// Both look once, with bounded work, and fail silently: none means that no holder was found.
class Holders {
 public:
  virtual ~Holders() = default;

  // Who listens there. `ip` as a number; anything else, and the address of all interfaces, means
  // any address of this host.
  [[nodiscard]] virtual std::optional<Holder> of_port(const std::string& ip,
                                                      std::uint16_t port) const = 0;
  // Who has locked a file in this directory.
  [[nodiscard]] virtual std::optional<Holder> of_directory(const std::string& path) const = 0;
};

}  // namespace fdbpack::ports
