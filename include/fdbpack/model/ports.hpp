// SPDX-License-Identifier: Apache-2.0
//
// Which port a process listens on. Every process has a pair, so that both listeners exist while TLS
// is switched:
//
//   slot + index     1     2     3
//   TLS           4500  4502  4504      4498 + 2 (slot + index)
//   plain         4501  4503  4505      4499 + 2 (slot + index)
//
// In a pod the slot is 0. On a host that carries several groups on one address each group has a
// slot of its own.
#pragma once

#include "fdbpack/base/result.hpp"

#include <cstdint>
#include <string_view>

namespace fdbpack::model {

enum class Transport { tls, plain };

inline constexpr std::uint32_t kPortMax = 65535;
// The last slot + index whose two ports both exist.
inline constexpr std::uint32_t kPortPairMax = (kPortMax - 4499) / 2;

// `index` counts from 1. `process` is named in the error when the port would be beyond 65535.
[[nodiscard]] Result<std::uint16_t> port_of(std::string_view process, std::uint32_t slot,
                                            std::uint32_t index, Transport transport);

}  // namespace fdbpack::model
