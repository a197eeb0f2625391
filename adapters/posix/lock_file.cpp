// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/lock_file.hpp"

#include "adapters/posix/files.hpp"
#include "adapters/posix/proc_files.hpp"
#include "fdbpack/base/text.hpp"

#include <climits>

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>

namespace fdbpack::posix {
namespace {

constexpr int kTriesMax = 100;
constexpr long kPauseMinNs = 500'000;
constexpr long kPauseMaxNs = 20'000'000;

std::string read_start(int fd) {
  std::array<char, 256> buffer{};
  const ssize_t size = ::pread(fd, buffer.data(), buffer.size(), 0);
  return size > 0 ? std::string(buffer.data(), static_cast<std::size_t>(size)) : std::string();
}

// 0: the file does not say.
int holder_pid(int fd) {
  const std::string content = read_start(fd);
  const auto pid = text::parse_decimal(text::trim(text::split(content, '\n').front()));
  return pid && *pid > 0 && *pid <= INT_MAX ? static_cast<int>(*pid) : 0;
}

std::string describe_holder(int fd) {
  const int pid = holder_pid(fd);
  if (pid == 0) return "another process";
  const std::string comm = read_proc("/proc/" + std::to_string(pid) + "/comm").text;
  const std::string name(text::trim(comm));
  return "process " + std::to_string(pid) + (name.empty() ? "" : " (" + name + ")");
}

// SIGKILL was sent to it and it has not come to die yet.
bool is_killed(std::string_view status) {
  constexpr std::uint64_t kKillBit = 1u << (SIGKILL - 1);
  for (const auto line : text::split(status, '\n')) {
    if (!line.starts_with("SigPnd:") && !line.starts_with("ShdPnd:")) continue;
    const auto digits = text::trim(line.substr(7));
    std::uint64_t pending = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), pending, 16);
    if ((pending & kKillBit) != 0) return true;
  }
  return false;
}

// The process that the file names lives and will go on to do so. What holds the lock of one that
// does not is on its last way: the dead agent itself, or a child of it that is about to execute its
// own program. A file that names nobody is one whose holder is about to write its name.
bool has_living_holder(int fd) {
  constexpr std::uint64_t kExiting = 4;
  const int pid = holder_pid(fd);
  if (pid == 0 || (::kill(pid, 0) != 0 && errno == ESRCH)) return false;
  const std::string directory = "/proc/" + std::to_string(pid);
  const auto stat = read_proc(directory + "/stat");
  const auto fields = stat_fields(stat.text);
  if (fields.size() < 7) return stat.error_number != ENOENT && stat.error_number != ESRCH;
  const auto flags = text::parse_decimal(fields[6]);
  if (fields[0] == "Z" || fields[0] == "X" || (flags && (*flags & kExiting) != 0)) return false;
  return !is_killed(read_proc(directory + "/status").text);
}

// Once it is the time to look again; false when the patience is at its end.
class Waiter {
 public:
  explicit Waiter(std::chrono::milliseconds patience)
      : until_(std::chrono::steady_clock::now() + patience) {}

  [[nodiscard]] bool wait() {
    if (std::chrono::steady_clock::now() >= until_) return false;
    const timespec pause{0, pause_ns_};
    ::nanosleep(&pause, nullptr);
    pause_ns_ = std::min(2 * pause_ns_, kPauseMaxNs);
    return true;
  }

 private:
  std::chrono::steady_clock::time_point until_;
  long pause_ns_ = kPauseMinNs;
};

}  // namespace

Result<LockFile> LockFile::acquire(const std::string& path, std::chrono::milliseconds patience) {
  const auto slash = path.rfind('/');
  if (slash != std::string::npos && slash > 0) {
    FDBPACK_TRY_VOID(PosixFiles().make_directories(path.substr(0, slash), 0755));
  }
  Waiter waiter(patience);
  for (int tries = 0; tries < kTriesMax;) {
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640));
    if (!fd) return fail(errno_error("opening lock file " + path, errno));
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    if (::fcntl(fd.get(), F_OFD_SETLK, &lock) != 0) {
      if (errno != EAGAIN && errno != EACCES) {
        return fail(errno_error("locking " + path, errno));
      }
      if (!has_living_holder(fd.get()) && waiter.wait()) continue;
      return fail(ErrorCode::already_exists,
                  "lock file " + path + " is held by " + describe_holder(fd.get()));
    }
    if (is_at(path, fd.get())) return LockFile(path, std::move(fd));
    ++tries;
  }
  return fail(ErrorCode::unavailable, "lock file " + path + " is removed again and again");
}

LockFile LockFile::inherited(const std::string& path, int fd) {
  return LockFile(path, UniqueFd(fd));
}

bool LockFile::is_at(const std::string& path, int fd) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(fd, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
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
  if (is_at(path_, fd_.get())) ::unlink(path_.c_str());
}

Result<UniqueFd> lock_name(const std::string& name, std::chrono::milliseconds patience) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.empty() || name.size() >= sizeof address.sun_path) {
    return fail(ErrorCode::invalid_argument, "'" + name + "' cannot be the name of a lock");
  }
  std::copy(name.begin(), name.end(), address.sun_path + 1);  // behind a NUL: not a file
  const auto size = static_cast<::socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return fail(errno_error("locking the name " + name, errno));
  Waiter waiter(patience);
  // A child of a dead holder has it until it executes its own program.
  while (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) {
    if (errno != EADDRINUSE) return fail(errno_error("locking the name " + name, errno));
    if (waiter.wait()) continue;
    return fail(ErrorCode::already_exists, "the name " + name + " is held by another process");
  }
  return fd;
}

}  // namespace fdbpack::posix
