// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/inherited_fds.hpp"

#include "adapters/posix/fd.hpp"
#include "adapters/posix/lock_file.hpp"
#include "adapters/posix/pidfd.hpp"
#include "fdbpack/base/text.hpp"

#include <climits>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace fdbpack::posix {
namespace {

constexpr int kListenFdsStart = 3;
constexpr std::size_t kHandoverBytesMax = 64 * 1024 * 1024;

// The next file opened would be one of them.
void take_standard_fds() {
  for (int fd = ::open("/dev/null", O_RDWR); fd >= 0; fd = ::open("/dev/null", O_RDWR)) {
    if (fd <= STDERR_FILENO) continue;
    ::close(fd);
    break;
  }
}

std::vector<int> listen_fds() {
  const char* const pid = std::getenv("LISTEN_PID");
  const char* const count = std::getenv("LISTEN_FDS");
  if (pid == nullptr || count == nullptr || std::to_string(::getpid()) != pid) return {};
  const auto number = text::parse_decimal(count);
  std::vector<int> fds;
  for (std::uint64_t i = 0; number && *number < 100000 && i < *number; ++i)
    fds.push_back(kListenFdsStart + static_cast<int>(i));
  return fds;
}

Result<wire::Handover> read_handover(const char* variable) {
  const auto number = text::parse_decimal(variable);
  if (!number || *number <= STDERR_FILENO || *number > INT_MAX) {
    return fail(ErrorCode::corrupt, std::string(kHandoverVariable) + " is no descriptor");
  }
  const UniqueFd fd(static_cast<int>(*number));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return fail(errno_error("its file", errno));
  const auto size = static_cast<std::size_t>(std::max<off_t>(info.st_size, 0));
  if (size == 0 || size > kHandoverBytesMax) return fail(ErrorCode::corrupt, "its size is wrong");
  std::string text(size, '\0');
  if (::pread(fd.get(), text.data(), size, 0) != info.st_size) {
    return fail(errno_error("reading it", errno));
  }
  return wire::parse_handover(text);
}

std::vector<int> open_fds() {
  std::vector<int> fds;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir("/proc/self/fd"), ::closedir);
  if (!directory) return fds;
  while (const dirent* entry = ::readdir(directory.get())) {
    const auto fd = text::parse_decimal(entry->d_name);
    if (!fd || *fd <= STDERR_FILENO || *fd > INT_MAX) continue;
    if (static_cast<int>(*fd) != ::dirfd(directory.get())) fds.push_back(static_cast<int>(*fd));
  }
  return fds;
}

// All above 2 but those in `kept`. Before Linux 5.9 they stay, and are close-on-exec later.
void close_others(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
  kept.push_back(INT_MAX);
  unsigned first = STDERR_FILENO + 1;
  for (const int fd : kept) {
    const auto next = static_cast<unsigned>(fd);
    if (next > first) ::syscall(SYS_close_range, first, next - 1, 0);
    first = std::max(first, next + 1);
  }
}

}  // namespace

std::vector<int> descriptors(const wire::Handover& handover) {
  std::vector<int> fds = {handover.lock_fd};
  for (const auto& process : handover.processes)
    fds.insert(fds.end(), {process.pidfd, process.out, process.err});
  std::erase_if(fds, [](int fd) { return fd <= STDERR_FILENO; });
  return fds;
}

void set_inherited(const std::vector<int>& fds, bool is_inherited) {
  for (const int fd : fds)
    ::fcntl(fd, F_SETFD, is_inherited ? 0 : FD_CLOEXEC);
}

InheritedFds take_inherited_fds(const std::string& lock_path) {
  take_standard_fds();
  InheritedFds inherited;
  std::vector<int> kept = listen_fds();
  if (const char* const variable = std::getenv(kHandoverVariable)) {
    inherited.is_replacement = true;
    auto handover = read_handover(variable);
    ::unsetenv(kHandoverVariable);
    if (handover) {
      const auto fds = descriptors(*handover);
      kept.insert(kept.end(), fds.begin(), fds.end());
      inherited.handover = *std::move(handover);
    } else {
      inherited.problem = handover.error().message;
      for (const int fd : open_fds()) {
        if (inherited.lock_fd < 0 && LockFile::is_at(lock_path, fd)) {
          inherited.lock_fd = fd;
        } else if (pid_of_pidfd(fd)) {
          inherited.pidfds.push_back(fd);
        } else {
          continue;
        }
        kept.push_back(fd);
      }
    }
  }
  close_others(kept);
  set_inherited(kept, false);
  return inherited;
}

}  // namespace fdbpack::posix
