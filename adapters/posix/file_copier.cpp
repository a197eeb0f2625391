// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/file_copier.hpp"

#include "adapters/posix/fd.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace fdbpack::posix {
namespace {

Status write_all(int fd, const char* data, std::size_t size, const std::string& doing) {
  while (size > 0) {
    const ssize_t written = ::write(fd, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(errno_error(doing, errno));
    data += written;
    size -= static_cast<std::size_t>(written);
  }
  return {};
}

Status copy_content(int from, int to, const std::string& doing) {
  std::array<char, 128 * 1024> buffer;
  for (;;) {
    const ssize_t got = ::read(from, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(errno_error(doing, errno));
    if (got == 0) return {};
    FDBPACK_TRY_VOID(write_all(to, buffer.data(), static_cast<std::size_t>(got), doing));
  }
}

// Gone unless it was renamed.
class TemporaryName {
 public:
  explicit TemporaryName(std::string path) : path_(std::move(path)) {}
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;
  ~TemporaryName() {
    if (!is_renamed_) ::unlink(path_.c_str());
  }
  [[nodiscard]] bool rename_to(const std::string& target) {
    is_renamed_ = ::rename(path_.c_str(), target.c_str()) == 0;
    return is_renamed_;
  }

 private:
  std::string path_;
  bool is_renamed_ = false;
};

}  // namespace

Status PosixFileCopier::copy(const std::string& source, const std::string& target,
                             bool must_have_content) {
  const std::string doing = "copying " + source + " to " + target;
  const UniqueFd from(::open(source.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!from) return fail(errno_error("opening " + source, errno));
  struct stat info {};
  if (::fstat(from.get(), &info) != 0) return fail(errno_error(doing, errno));
  if (!S_ISREG(info.st_mode)) {
    return fail(ErrorCode::invalid_argument, source + " is not a regular file");
  }
  if (must_have_content && info.st_size == 0) {
    return fail(ErrorCode::precondition, "file " + source + " is empty");
  }
  const auto directory = std::filesystem::path(target).parent_path();
  std::error_code error;
  if (!directory.empty()) std::filesystem::create_directories(directory, error);
  if (error) return fail(errno_error(doing, error.value()));

  std::string name = target + ".XXXXXX";
  const UniqueFd to(::mkostemp(name.data(), O_CLOEXEC));
  if (!to) return fail(errno_error(doing, errno));
  TemporaryName temporary(name);
  FDBPACK_TRY_VOID(copy_content(from.get(), to.get(), doing));
  if (::fchmod(to.get(), info.st_mode & 07777) != 0 || ::fsync(to.get()) != 0 ||
      !temporary.rename_to(target)) {
    return fail(errno_error(doing, errno));
  }
  const std::string folder = directory.empty() ? "." : directory.string();
  const UniqueFd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened) ::fsync(opened.get());
  return {};
}

Status PosixFileCopier::check_executable(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return fail(errno_error("looking for " + path, errno));
  if (!S_ISREG(info.st_mode)) {
    return fail(ErrorCode::invalid_argument, path + " is not a regular file");
  }
  if ((info.st_mode & S_IXUSR) == 0) {
    return fail(ErrorCode::permission_denied, path + " is not executable by its owner");
  }
  return {};
}

}  // namespace fdbpack::posix
