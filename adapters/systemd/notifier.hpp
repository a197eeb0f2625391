// SPDX-License-Identifier: Apache-2.0
//
// sd_notify(3)'s protocol, spoken directly: a datagram to $NOTIFY_SOCKET. Without one, silence.
#pragma once

#include "ports/notifier.hpp"

#include <string>
#include <vector>

namespace fdbpack::systemd {

class SystemdNotifier final : public ports::Notifier {
 public:
  // Reads the environment once.
  SystemdNotifier();
  ~SystemdNotifier() override;
  SystemdNotifier(const SystemdNotifier&) = delete;
  SystemdNotifier& operator=(const SystemdNotifier&) = delete;

  void ready(std::string_view status) override;
  void reloading(Instant now) override;
  void stopping() override;
  void status(std::string_view text) override;
  void extend_timeout(Duration by) override;
  void watchdog() override;
  [[nodiscard]] std::optional<Duration> watchdog_interval() const override;
  void store(std::string_view name, int fd) override;
  void unstore(std::string_view name) override;

 private:
  void send(const std::string& message, int fd = -1);

  int socket_ = -1;
  std::string address_;
  std::optional<Duration> watchdog_interval_;
};

// Descriptors that the service manager kept for us ($LISTEN_FDS); close-on-exec from now on. The
// variables are removed from the environment, so that no child takes them for its own.
[[nodiscard]] std::vector<int> take_stored_fds();

}  // namespace fdbpack::systemd
