// SPDX-License-Identifier: Apache-2.0
//
// What an inotify descriptor has to tell.
#pragma once

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>

namespace fdbpack::posix {

// Reads a descriptor that does not block until it is empty; calls handle(event, name) for each. The
// name is empty for what happened to the watched thing itself.
template <class Handle>
void read_inotify(int fd, Handle handle) {
  alignas(inotify_event) std::array<char, 8192> buffer;
  for (;;) {
    const ssize_t size = ::read(fd, buffer.data(), buffer.size());
    if (size <= 0) return;
    for (std::size_t at = 0; at + sizeof(inotify_event) <= static_cast<std::size_t>(size);) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      const char* const name = event.len > 0 ? buffer.data() + at + sizeof event : "";
      at += sizeof event + event.len;
      handle(event, name);
    }
  }
}

}  // namespace fdbpack::posix
