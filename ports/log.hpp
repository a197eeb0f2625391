// SPDX-License-Identifier: Apache-2.0
//
// Where the agent's own lines and those of its processes go. Writing never blocks: when the reader
// is slow or gone, lines are dropped and counted.
#pragma once

#include "fdbpack/supervise/exit.hpp"

#include <cstdint>
#include <string_view>

namespace fdbpack::ports {

class Log {
 public:
  virtual ~Log() = default;

  // `process` is the section a line is about, or the agent's own name.
  virtual void write(supervise::Severity severity, std::string_view process,
                     std::string_view text) = 0;
  // Hands out what was collected. Called by itself soon after a write; by hand before an end.
  virtual void flush() = 0;
  [[nodiscard]] virtual std::uint64_t dropped() const = 0;
};

}  // namespace fdbpack::ports
