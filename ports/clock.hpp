// SPDX-License-Identifier: Apache-2.0
//
// The only door to time. Everything that waits does so through an Alarm, so that a test can run
// hours in milliseconds.
#pragma once

#include "fdbpack/base/instant.hpp"

#include <functional>
#include <memory>

namespace fdbpack::ports {

// Calls back once for each time it was set and reached. Setting it again replaces the time before;
// destroying it clears it. Runs on the agent's thread, never inside set().
class Alarm {
 public:
  virtual ~Alarm() = default;
  virtual void set(Instant at) = 0;
  virtual void clear() = 0;
};

class Clock {
 public:
  virtual ~Clock() = default;

  // Monotonic, does not jump, comparable between processes of one boot.
  [[nodiscard]] virtual Instant now() const = 0;
  [[nodiscard]] virtual WallTime wall() const = 0;
  [[nodiscard]] virtual std::unique_ptr<Alarm> make_alarm(std::function<void()> on_time) = 0;
};

}  // namespace fdbpack::ports
