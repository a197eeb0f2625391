// SPDX-License-Identifier: Apache-2.0
//
// What the service manager is told. All of it is allowed to go nowhere.
#pragma once

#include "fdbpack/base/instant.hpp"

#include <optional>
#include <string_view>

namespace fdbpack::ports {

class Notifier {
 public:
  virtual ~Notifier() = default;

  virtual void ready(std::string_view status) = 0;
  virtual void reloading(Instant now) = 0;
  virtual void stopping() = 0;
  virtual void status(std::string_view text) = 0;
  virtual void extend_timeout(Duration by) = 0;
  virtual void watchdog() = 0;
  // How often watchdog() is expected; none: not at all.
  [[nodiscard]] virtual std::optional<Duration> watchdog_interval() const = 0;
  // Descriptors that the service manager keeps over our death, by name.
  virtual void store(std::string_view name, int fd) = 0;
  virtual void unstore(std::string_view name) = 0;
};

}  // namespace fdbpack::ports
