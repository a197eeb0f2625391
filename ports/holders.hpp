// SPDX-License-Identifier: Apache-2.0
//
// Who holds what a process needs and did not get: a port, or a data directory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fdbpack::ports {

struct Holder {
  int pid = 0;  // 0: somebody holds it, but who cannot be seen
  std::string name;
};

struct WantedPort {
  // As a number; anything else, and the address of all interfaces, means any address of this host.
  std::string ip;
  std::uint16_t port = 0;
};

// Looked for in this order.
struct Wanted {
  std::vector<WantedPort> ports;
  std::string directory;  // in which somebody else may have locked a file; empty: none
};

struct Held {
  std::string thing;  // "port 4500", "data directory /d"
  Holder holder;
};

// Looks through the processes of the host piece by piece, because there may be many. Fails
// silently: no result means that no holder was found.
class HolderSearch {
 public:
  virtual ~HolderSearch() = default;

  // A bounded part of the work. True: it is done, and there may be a result.
  [[nodiscard]] virtual bool advance() = 0;
  [[nodiscard]] virtual const std::optional<Held>& result() const = 0;
};

class Holders {
 public:
  virtual ~Holders() = default;

  // Never null.
  [[nodiscard]] virtual std::unique_ptr<HolderSearch> search(Wanted wanted) const = 0;
};

}  // namespace fdbpack::ports
