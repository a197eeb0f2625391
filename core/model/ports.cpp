// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/model/ports.hpp"

#include "fdbpack/base/check.hpp"

#include <string>

namespace fdbpack::model {

Result<std::uint16_t> port_of(std::string_view process, std::uint32_t slot, std::uint32_t index,
                              Transport transport) {
  FDBPACK_CHECK(index >= 1);
  const std::uint64_t pair = std::uint64_t{slot} + index;
  const std::uint64_t port = (transport == Transport::tls ? 4498u : 4499u) + 2 * pair;
  if (port > kPortMax) {
    return fail(ErrorCode::invalid_argument,
                "process " + std::string(process) + " would need port " + std::to_string(port) +
                    ", but the highest is 65535; lower its port slot or the servers per disk");
  }
  return static_cast<std::uint16_t>(port);
}

}  // namespace fdbpack::model
