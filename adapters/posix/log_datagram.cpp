// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/log_datagram.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstdio>

namespace fdbpack::posix {

DatagramLog::DatagramLog(std::string path, std::unique_ptr<spdlog::formatter> formatter)
    : LogOutput(std::move(formatter)),
      path_(std::move(path)),
      socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {}

bool DatagramLog::send(const spdlog::details::log_msg& message) {
  spdlog::memory_buf_t datagram;
  formatter_->format(message, datagram);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "%s", path_.c_str());
  return ::sendto(socket_.get(), datagram.data(), datagram.size(), MSG_NOSIGNAL,
                  reinterpret_cast<const sockaddr*>(&address), sizeof address) >= 0;
}

void DatagramLog::log(const spdlog::details::log_msg& message) {
  if (!send(message)) return drop(1);
  announce_dropped([this](const spdlog::details::log_msg& note) {
    if (!send(note)) drop(1);
  });
}

}  // namespace fdbpack::posix
