// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/pidfd.hpp"

#include "fdbpack/base/text.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <cstdint>
#include <memory>

namespace fdbpack::posix {
namespace {

constexpr unsigned kSignalProcessGroup = 1u << 2;  // PIDFD_SIGNAL_PROCESS_GROUP, Linux 6.9

struct PidfdInfo {  // struct pidfd_info of linux/pidfd.h, as of Linux 6.15
  std::uint64_t mask;
  std::uint64_t cgroup_id;
  std::uint32_t pid;
  std::uint32_t tgid;
  std::uint32_t ppid;
  std::uint32_t ids[8];
  std::int32_t exit_code;
};
static_assert(sizeof(PidfdInfo) == 64);
constexpr std::uint64_t kInfoExit = 1u << 3;  // PIDFD_INFO_EXIT
constexpr unsigned long kGetInfo = _IOWR(0xFF, 11, PidfdInfo);

int send(int pidfd, int signal, unsigned flags) {
  return ::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, flags) == 0 ? 0 : errno;
}

supervise::Exit from_wait_status(int status) {
  if (WIFEXITED(status)) return supervise::Exited{WEXITSTATUS(status)};
  if (WIFSIGNALED(status)) return supervise::Signalled{WTERMSIG(status), WCOREDUMP(status) != 0};
  return supervise::UnknownEnd{};
}

// The wait status of a zombie, field 52 of its stat. Its pid cannot be used anew before it is
// reaped.
std::optional<int> zombie_status(int pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> buffer{};
  const ssize_t size = file ? ::read(file.get(), buffer.data(), buffer.size()) : 0;
  if (size <= 0) return {};
  const std::string_view stat(buffer.data(), static_cast<std::size_t>(size));
  const auto name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) return {};
  const auto fields = text::split_words(stat.substr(name_end + 1));
  if (fields.size() < 50 || fields[0] != "Z") return {};
  const auto status = text::parse_decimal(fields[49]);
  if (!status || *status > 0xFFFF) return {};
  return static_cast<int>(*status);
}

// A status of 0 may also mean that we are not allowed to know it: then the other way is tried.
std::optional<supervise::Exit> zombie_exit(int pidfd, int pid) {
  const auto status = zombie_status(pid);
  if (!status || *status == 0 || send(pidfd, 0, 0) != 0) return {};
  return from_wait_status(*status);
}

ReapOutcome ask_kernel(int pidfd, int pid) {
  if (const auto exit = zombie_exit(pidfd, pid)) return {Reaped::ended, *exit};
  PidfdInfo info{};
  info.mask = kInfoExit;
  if (::ioctl(pidfd, kGetInfo, &info) == 0 && (info.mask & kInfoExit) != 0) {
    return {Reaped::ended, from_wait_status(info.exit_code)};
  }
  // A zombie can still be signalled; ESRCH means that its parent has reaped it.
  if (send(pidfd, 0, 0) == ESRCH) return {Reaped::ended, supervise::UnknownEnd{}};
  return {Reaped::not_reaped, supervise::UnknownEnd{}};
}

}  // namespace

UniqueFd open_pidfd(int pid) {
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

bool has_ended(int pidfd) {
  pollfd ends{pidfd, POLLIN, 0};
  return ::poll(&ends, 1, 0) == 1 && (ends.revents & POLLIN) != 0;
}

int pidfd_signal(int pidfd, int signal) {
  return send(pidfd, signal, 0);
}

int pidfd_signal_group(int pidfd, int pid, int signal) {
  static bool has_group_flag = true;
  if (has_group_flag) {
    const int error_number = send(pidfd, signal, kSignalProcessGroup);
    if (error_number != EINVAL) return error_number;
    has_group_flag = false;
  }
  if (send(pidfd, 0, 0) == ESRCH) return ESRCH;
  return ::kill(-pid, signal) == 0 ? 0 : errno;
}

bool group_has_living_member(int pgid) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir("/proc"), ::closedir);
  if (!directory) return true;
  while (const dirent* entry = ::readdir(directory.get())) {
    if (!text::is_digit(entry->d_name[0])) continue;
    const std::string path = std::string("/proc/") + entry->d_name + "/stat";
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::array<char, 512> buffer{};
    const ssize_t size = file ? ::read(file.get(), buffer.data(), buffer.size()) : 0;
    if (size <= 0) continue;
    const std::string_view stat(buffer.data(), static_cast<std::size_t>(size));
    const auto name_end = stat.rfind(')');
    if (name_end == std::string_view::npos) continue;
    const auto fields = text::split_words(stat.substr(name_end + 1));  // state, ppid, pgrp, ...
    if (fields.size() < 3 || fields[2] != std::to_string(pgid)) continue;
    if (fields[0] != "Z" && fields[0] != "X") return true;
  }
  return false;
}

std::optional<int> pid_of_pidfd(int pidfd) {
  const std::string path = "/proc/self/fdinfo/" + std::to_string(pidfd);
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return {};
  std::array<char, 1024> buffer{};
  const ssize_t size = ::read(file.get(), buffer.data(), buffer.size());
  if (size < 0) return {};
  const std::string_view content(buffer.data(), static_cast<std::size_t>(size));
  for (const auto line : text::split(content, '\n')) {
    if (line.substr(0, 4) != "Pid:") continue;
    const auto pid = text::parse_decimal(text::trim(line.substr(4)));  // -1 once it is gone
    if (pid && *pid > 0) return static_cast<int>(*pid);
  }
  errno = ESRCH;
  return {};
}

ReapOutcome reap_pidfd(int pidfd, int pid) {
  siginfo_t info{};
  const auto id = static_cast<id_t>(pidfd);
  if (::waitid(static_cast<idtype_t>(P_PIDFD), id, &info, WEXITED | WNOHANG) != 0) {
    return ask_kernel(pidfd, pid);
  }
  if (info.si_pid == 0) return {Reaped::alive, supervise::UnknownEnd{}};
  if (info.si_code == CLD_EXITED) return {Reaped::ended, supervise::Exited{info.si_status}};
  return {Reaped::ended, supervise::Signalled{info.si_status, info.si_code == CLD_DUMPED}};
}

}  // namespace fdbpack::posix
