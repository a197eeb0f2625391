// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/disk_worker.hpp"

#include "adapters/posix/pidfd.hpp"

#include <climits>

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace fdbpack::posix {
namespace {

constexpr std::size_t kMessageBytesMax = 32 * 1024;
constexpr std::size_t kTextBytesMax = 1024;  // of an error
constexpr int kSocket = 3;                   // in the worker
constexpr int kOldKernelFdsMax = 65536;      // closed one by one before Linux 5.9
constexpr int kNice = 10;
constexpr int kIoClassIdle = 3 << 13;  // IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0)
constexpr int kIoWhoProcess = 1;       // IOPRIO_WHO_PROCESS

struct RequestHead {
  std::uint32_t path_size = 0;
  std::uint32_t measures_use = 0;
};

struct ReadingHead {
  std::uint64_t device = 0, total_bytes = 0, free_bytes = 0, used_bytes = 0;
  std::uint32_t error_size = 0, file_system_size = 0;
  bool is_missing = false, is_read_only = false, has_use = false, is_use_partial = false;
};

template <class Head>
void append(std::string& message, const Head& head) {
  message.append(reinterpret_cast<const char*>(&head), sizeof head);
}

template <class Head>
bool take(std::string_view& message, Head& head) {
  if (message.size() < sizeof head) return false;
  std::memcpy(&head, message.data(), sizeof head);
  message.remove_prefix(sizeof head);
  return true;
}

std::string take_text(std::string_view& message, std::size_t size) {
  const std::string text(message.substr(0, size));
  message.remove_prefix(text.size());
  return text;
}

std::string encode(const ports::DiskReading& reading) {
  ReadingHead head;
  head.device = reading.device;
  head.total_bytes = reading.total_bytes;
  head.free_bytes = reading.free_bytes;
  head.used_bytes = reading.used_bytes;
  const auto error = std::string_view(reading.error).substr(0, kTextBytesMax);
  const auto file_system = std::string_view(reading.file_system).substr(0, kTextBytesMax);
  head.error_size = static_cast<std::uint32_t>(error.size());
  head.file_system_size = static_cast<std::uint32_t>(file_system.size());
  head.is_missing = reading.is_missing;
  head.is_read_only = reading.is_read_only;
  head.has_use = reading.has_use;
  head.is_use_partial = reading.is_use_partial;
  std::string message;
  append(message, head);
  return message.append(error).append(file_system);
}

void decode(std::string_view message, ports::DiskReading& reading) {
  ReadingHead head;
  if (!take(message, head)) {
    reading.error = "the process that looks at disks sent nonsense";
    return;
  }
  reading.device = head.device;
  reading.total_bytes = head.total_bytes;
  reading.free_bytes = head.free_bytes;
  reading.used_bytes = head.used_bytes;
  reading.error = take_text(message, head.error_size);
  reading.file_system = take_text(message, head.file_system_size);
  reading.is_missing = head.is_missing;
  reading.is_read_only = head.is_read_only;
  reading.has_use = head.has_use;
  reading.is_use_partial = head.is_use_partial;
}

// Leaves everything of the agent's behind but the socket, which becomes kSocket.
void leave_descriptors_behind(int socket) {
  if (socket != kSocket && ::dup2(socket, kSocket) < 0) ::_exit(1);
  if (::syscall(SYS_close_range, kSocket + 1, UINT_MAX, 0) != 0) {
    for (int fd = kSocket + 1; fd < kOldKernelFdsMax; ++fd)
      ::close(fd);
  }
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (null < 0) ::close(fd);
    if (null >= 0 && null != fd) ::dup2(null, fd);
  }
  if (null > STDERR_FILENO) ::close(null);
}

// All signals are blocked until none of the agent's handlers is left.
void reset_signals() {
  for (int signal = 1; signal <= SIGRTMAX; ++signal)
    ::signal(signal, SIG_DFL);
  ::sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void work(int socket, ::pid_t agent, const DiskLook& look) {
  leave_descriptors_behind(socket);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != agent) ::_exit(0);  // it ended before it could be noticed
  ::setsid();                            // what is typed at the agent's terminal is not for us
  reset_signals();
  ::prctl(PR_SET_NAME, "fdbpack-disks");
  // Whether these work is of no importance.
  static_cast<void>(::setpriority(PRIO_PROCESS, 0, kNice));
  static_cast<void>(::syscall(SYS_ioprio_set, kIoWhoProcess, 0, kIoClassIdle));
  std::string buffer(kMessageBytesMax, '\0');
  for (;;) {
    const ssize_t size = ::recv(kSocket, buffer.data(), buffer.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) ::_exit(0);
    std::string_view message(buffer.data(), static_cast<std::size_t>(size));
    RequestHead head;
    while (take(message, head)) {
      const std::string path = take_text(message, head.path_size);
      const std::string answer = encode(look({path, head.measures_use != 0}));
      if (::send(kSocket, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) ::_exit(0);
    }
  }
}

}  // namespace

Result<DiskWorker> fork_disk_worker(const DiskLook& look) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return fail(errno_error("socketpair", errno));
  }
  DiskWorker worker;
  worker.socket = UniqueFd(ends[0]);
  UniqueFd theirs(ends[1]);
  const ::pid_t agent = ::getpid();
  ::sigset_t all, before;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  worker.pid = ::fork();
  if (worker.pid == 0) work(theirs.get(), agent, look);
  const int error_number = errno;
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (worker.pid < 0) return fail(errno_error("fork", error_number));
  worker.pidfd = open_pidfd(worker.pid);
  if (!worker.pidfd) {
    auto error = errno_error("pidfd_open", errno);
    // It has not looked at anything yet, so it ends at once.
    ::kill(worker.pid, SIGKILL);
    while (::waitpid(worker.pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return fail(std::move(error));
  }
  return worker;
}

std::size_t send_requests(int socket, const std::deque<ports::DiskRequest>& requests) {
  std::string message;
  std::size_t count = 0;
  for (const auto& request : requests) {
    // Longer than PATH_MAX is as wrong when its end is missing.
    const auto path = std::string_view(request.path).substr(0, PATH_MAX + 1);
    if (message.size() + sizeof(RequestHead) + path.size() > kMessageBytesMax) break;
    append(message, RequestHead{static_cast<std::uint32_t>(path.size()), request.measures_use});
    message.append(path);
    ++count;
  }
  const int flags = MSG_DONTWAIT | MSG_NOSIGNAL;
  return ::send(socket, message.data(), message.size(), flags) < 0 ? 0 : count;
}

Received receive_reading(int socket, ports::DiskReading& reading) {
  std::array<char, sizeof(ReadingHead) + 2 * kTextBytesMax> buffer;
  const ssize_t size = ::recv(socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return Received::nothing;
  if (size <= 0) return Received::end;
  decode({buffer.data(), static_cast<std::size_t>(size)}, reading);
  return Received::reading;
}

}  // namespace fdbpack::posix
