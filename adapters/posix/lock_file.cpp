// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/lock_file.hpp"

#include "adapters/posix/files.hpp"
#include "fdbpack/base/text.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>

namespace fdbpack::posix {
namespace {

constexpr int kTriesMax = 100;

std::string read_start(int fd) {
  std::array<char, 256> buffer{};
  const ssize_t size = ::pread(fd, buffer.data(), buffer.size(), 0);
  return size > 0 ? std::string(buffer.data(), static_cast<std::size_t>(size)) : std::string();
}

std::string describe_holder(int fd) {
  const std::string content = read_start(fd);
  const auto lines = text::split(content, '\n');
  const auto pid = text::parse_decimal(text::trim(lines.front()));
  if (!pid) return "another process";
  std::string name;
  const std::string path = "/proc/" + std::to_string(*pid) + "/comm";
  const UniqueFd comm(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (comm) name = std::string(text::trim(read_start(comm.get())));
  return "process " + std::to_string(*pid) + (name.empty() ? "" : " (" + name + ")");
}

bool is_still_at(const std::string& path, int fd) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(fd, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

}  // namespace

Result<LockFile> LockFile::acquire(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash != std::string::npos && slash > 0) {
    FDBPACK_TRY_VOID(PosixFiles().make_directories(path.substr(0, slash), 0755));
  }
  for (int i = 0; i < kTriesMax; ++i) {
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640));
    if (!fd) return fail(errno_error("opening lock file " + path, errno));
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    if (::fcntl(fd.get(), F_OFD_SETLK, &lock) != 0) {
      if (errno != EAGAIN && errno != EACCES) {
        return fail(errno_error("locking " + path, errno));
      }
      return fail(ErrorCode::already_exists,
                  "lock file " + path + " is held by " + describe_holder(fd.get()));
    }
    if (is_still_at(path, fd.get())) return LockFile(path, std::move(fd));
  }
  return fail(ErrorCode::unavailable, "lock file " + path + " is removed again and again");
}

LockFile LockFile::inherited(const std::string& path, int fd) {
  return LockFile(path, UniqueFd(fd));
}

Status LockFile::write_pid(int pid) {
  const std::string content = std::to_string(pid) + "\n";
  if (::ftruncate(fd_.get(), 0) != 0 || ::pwrite(fd_.get(), content.data(), content.size(), 0) !=
                                            static_cast<ssize_t>(content.size())) {
    return fail(errno_error("writing lock file " + path_, errno));
  }
  return {};
}

void LockFile::remove() {
  if (is_still_at(path_, fd_.get())) ::unlink(path_.c_str());
}

}  // namespace fdbpack::posix
