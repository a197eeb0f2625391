// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/file_copier.hpp"

#include "adapters/posix/fd.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string_view>

namespace fdbpack::posix {
namespace {

constexpr std::string_view kSuffix = "XXXXXX";

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

Status sync_folder(const std::string& folder) {
  const UniqueFd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) return fail(errno_error("opening " + folder, errno));
  // Some filesystems have nothing to sync in a folder and say so.
  if (::fsync(opened.get()) == 0 || errno == EINVAL || errno == ENOTSUP) return {};
  return fail(errno_error("syncing " + folder, errno));
}

std::string folder_of(const std::filesystem::path& path) {
  const auto parent = path.parent_path();
  return parent.empty() ? "." : parent.string();
}

// Each new one is in its parent for good before anything is put into it.
Status make_folders(const std::filesystem::path& folder) {
  std::filesystem::path so_far;
  for (const auto& part : folder) {
    so_far /= part;
    if (part.empty() || part == "/") continue;
    if (::mkdir(so_far.c_str(), 0777) == 0) {
      FDBPACK_TRY_VOID(sync_folder(folder_of(so_far)));
      continue;
    }
    const int error = errno;  // a parent that is there may be one that we cannot write to
    std::error_code ignored;
    if (!std::filesystem::is_directory(so_far, ignored)) {
      return fail(errno_error("making directory " + so_far.string(), error));
    }
  }
  return {};
}

// Temporary files of the same target whose writer was killed. A living writer has a lock.
void sweep(const std::string& folder, const std::string& prefix) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), ::closedir);
  if (!entries) return;
  const int directory = ::dirfd(entries.get());
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string name = entry->d_name;
    if (!name.starts_with(prefix) || name.size() != prefix.size() + kSuffix.size()) continue;
    const UniqueFd file(::openat(directory, name.c_str(),
                                 O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW));
    if (file && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
      ::unlinkat(directory, name.c_str(), 0);
    }
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
  const std::string folder = folder_of(target);
  if (auto made = make_folders(folder); !made) return fail(with_context(made.error(), doing));
  const std::string prefix =
      ".fdbpack-tmp." + std::filesystem::path(target).filename().string() + ".";
  sweep(folder, prefix);

  std::string name = folder + "/" + prefix + std::string(kSuffix);
  const UniqueFd to(::mkostemp(name.data(), O_CLOEXEC));
  if (!to) return fail(errno_error(doing, errno));
  ::flock(to.get(), LOCK_EX | LOCK_NB);  // where there are no locks, there is no sweep either
  TemporaryName temporary(name);
  FDBPACK_TRY_VOID(copy_content(from.get(), to.get(), doing));
  if (::fchmod(to.get(), info.st_mode & 07777) != 0 || ::fsync(to.get()) != 0 ||
      !temporary.rename_to(target)) {
    return fail(errno_error(doing, errno));
  }
  return sync_folder(folder);
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
