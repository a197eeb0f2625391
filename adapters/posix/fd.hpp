// SPDX-License-Identifier: Apache-2.0
//
// A file descriptor with one owner, and errno as an Error.
#pragma once

#include "fdbpack/base/result.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace fdbpack::posix {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    reset(std::exchange(other.fd_, -1));
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { reset(); }

  [[nodiscard]] int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

[[nodiscard]] inline ErrorCode code_of(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ESRCH:
      return ErrorCode::not_found;
    case EACCES:
    case EPERM:
      return ErrorCode::permission_denied;
    case EEXIST:
      return ErrorCode::already_exists;
    case EINVAL:
      return ErrorCode::invalid_argument;
    case ENOSYS:
      return ErrorCode::unsupported;
    default:
      return ErrorCode::unavailable;
  }
}

// "opening /etc/x: Permission denied (errno 13)"
[[nodiscard]] inline Error errno_error(std::string_view doing, int error_number) {
  return Error{code_of(error_number), std::string(doing) + ": " + std::strerror(error_number) +
                                          " (errno " + std::to_string(error_number) + ")"};
}

}  // namespace fdbpack::posix
