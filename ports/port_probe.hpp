// SPDX-License-Identifier: Apache-2.0
//
// Whether somebody accepts connections at an address.
#pragma once

#include "fdbpack/base/instant.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace fdbpack::ports {

class PortProbe {
 public:
  virtual ~PortProbe() = default;
  // Tries until somebody accepts or `patience` is over, then says which. `address` is an IP.
  virtual void wait_for_listener(std::string address, std::uint16_t port, Duration patience,
                                 std::function<void(bool accepts)> on_answer) = 0;
};

}  // namespace fdbpack::ports
