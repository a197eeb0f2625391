// SPDX-License-Identifier: Apache-2.0
#include "adapters/store/store_lock.hpp"

#include "fdbpack/base/text.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace fdbpack::store {
namespace {

std::string first_line(int fd) {
  std::array<char, 64> buffer{};
  const ssize_t size = ::pread(fd, buffer.data(), buffer.size(), 0);
  if (size <= 0) return {};
  const std::string_view content(buffer.data(), static_cast<std::size_t>(size));
  return std::string(text::trim(content.substr(0, content.find('\n'))));
}

std::string describe_holder(int fd) {
  const auto pid = text::parse_decimal(first_line(fd));
  if (!pid) return "another process";
  const std::string path = "/proc/" + std::to_string(*pid) + "/comm";
  const int comm = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::string name;
  if (comm >= 0) {
    name = first_line(comm);
    ::close(comm);
  }
  return "process " + std::to_string(*pid) + (name.empty() ? "" : " (" + name + ")");
}

}  // namespace

Result<StoreLock> StoreLock::acquire(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
  if (fd < 0) {
    const bool is_denied = errno == EACCES || errno == EPERM || errno == EROFS;
    return fail(is_denied ? ErrorCode::permission_denied : ErrorCode::unavailable,
                "opening " + path + ": " + std::strerror(errno));
  }
  StoreLock lock(fd);
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (::fcntl(fd, F_OFD_SETLK, &whole) != 0) {
    const int error = errno;
    if (error != EAGAIN && error != EACCES) {
      return fail(ErrorCode::unavailable, "locking " + path + ": " + std::strerror(error));
    }
    return fail(ErrorCode::already_exists, path + " is held by " + describe_holder(fd) +
                                               "; a store has one coordinator at a time");
  }
  const std::string content = std::to_string(::getpid()) + "\n";
  // Only for the message above: on a full disk the lock holds without it.
  if (::ftruncate(fd, 0) == 0) {
    [[maybe_unused]] const ssize_t ignored = ::pwrite(fd, content.data(), content.size(), 0);
  }
  return lock;
}

StoreLock::~StoreLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace fdbpack::store
