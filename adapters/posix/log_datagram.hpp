// SPDX-License-Identifier: Apache-2.0
//
// Log lines as datagrams to a unix socket, which is looked up anew for each: whoever reads there
// may come, go and come back. For syslog (/dev/log) and the journal (/run/systemd/journal/socket).
#pragma once

#include "adapters/posix/fd.hpp"
#include "adapters/posix/log_output.hpp"

#include <string>

namespace fdbpack::posix {

class DatagramLog final : public LogOutput {
 public:
  DatagramLog(std::string path, std::unique_ptr<spdlog::formatter> formatter);

  void log(const spdlog::details::log_msg& message) override;
  void flush() override {}

 private:
  bool send(const spdlog::details::log_msg& message);

  std::string path_;
  UniqueFd socket_;
};

}  // namespace fdbpack::posix
