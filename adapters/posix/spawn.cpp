// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/spawn.hpp"

#include "adapters/posix/clone_into.hpp"
#include "fdbpack/base/check.hpp"
#include "ports/process_table.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <vector>

// The child runs on borrowed memory: no sanitizer may keep books about it.
#define FDBPACK_BARE \
  __attribute__((no_sanitize("address"), no_sanitize("undefined"), no_sanitize("thread")))

namespace fdbpack::posix {
namespace {

constexpr std::size_t kPidDigits = 12;

// Everything the child needs, prepared so that it only makes system calls.
struct Work {
  char* const* argv = nullptr;
  char* const* environment = nullptr;
  char* pid_digits = nullptr;  // inside the environment: kPidDigits bytes and a NUL
  const char* working_directory = nullptr;
  int slots[3] = {-1, -1, -1};
  int highest_fd = 2;  // above it nothing is needed
  pid_t parent = 0;
  const ports::LaunchPlan* plan = nullptr;
  const cpu_set_t* cpus = nullptr;
  char oom_score_adj[8] = {};
  std::size_t oom_score_adj_size = 0;

  // Written by the child.
  volatile int error_number = 0;
  const char* volatile step = nullptr;
};

FDBPACK_BARE long call(long number, long a = 0, long b = 0, long c = 0, long d = 0) {
  return ::syscall(number, a, b, c, d);
}

template <class T>
FDBPACK_BARE long address(T* pointer) {
  return reinterpret_cast<long>(pointer);
}

[[noreturn]] FDBPACK_BARE void give_up(Work& work, const char* step) {
  work.error_number = errno;
  work.step = step;
  for (;;)
    call(SYS_exit_group, 127);
}

FDBPACK_BARE void leave_descriptors_behind(Work& work) {
  const long first = work.highest_fd + 1;
  if (call(SYS_close_range, first, UINT32_MAX, CLOSE_RANGE_UNSHARE) == 0) return;
  // Before Linux 5.9. All of ours are close-on-exec; only the table must become our own.
  if (call(SYS_unshare, CLONE_FILES) != 0) give_up(work, "unshare");
}

FDBPACK_BARE void reset_signals() {
  struct KernelAction {
    void* handler;
    unsigned long flags;
    void* restorer;
    std::uint64_t mask;
  };
  const KernelAction to_default = {};
  for (int signal = 1; signal <= 64; ++signal) {
    call(SYS_rt_sigaction, signal, address(&to_default), 0, 8);
  }
}

FDBPACK_BARE void place_descriptors(Work& work) {
  for (int target = 0; target < 3; ++target) {
    if (call(SYS_dup3, work.slots[target], target, 0) < 0) give_up(work, "dup3");
  }
  if (call(SYS_close_range, 3, UINT32_MAX, CLOSE_RANGE_CLOEXEC) == 0) return;
  for (int fd = 3; fd <= work.highest_fd; ++fd)
    call(SYS_fcntl, fd, F_SETFD, FD_CLOEXEC);
}

FDBPACK_BARE void apply_limits(Work& work) {
  const ports::LaunchPlan& plan = *work.plan;
  if (work.oom_score_adj_size > 0) {
    const long fd =
        call(SYS_openat, AT_FDCWD, address("/proc/self/oom_score_adj"), O_WRONLY | O_CLOEXEC, 0);
    const auto size = static_cast<long>(work.oom_score_adj_size);
    if (fd < 0 || call(SYS_write, fd, address(work.oom_score_adj), size) != size) {
      give_up(work, "oom_score_adj");
    }
    call(SYS_close, fd);
  }
  const ports::ResourceLimit* limit = plan.limits.data();
  for (std::size_t i = 0; i < plan.limits.size(); ++i, ++limit) {
    const rlimit64 value = {limit->soft, limit->hard};
    if (call(SYS_prlimit64, 0, limit->resource, address(&value), 0) != 0) give_up(work, "prlimit");
  }
  if (plan.nice && call(SYS_setpriority, PRIO_PROCESS, 0, *plan.nice) != 0) {
    give_up(work, "setpriority");
  }
  if (work.cpus != nullptr &&
      call(SYS_sched_setaffinity, 0, sizeof(cpu_set_t), address(work.cpus)) != 0) {
    give_up(work, "sched_setaffinity");
  }
  if (plan.umask) call(SYS_umask, static_cast<long>(*plan.umask));
}

// Becoming oneself needs no right, but a sandbox may forbid even to ask.
FDBPACK_BARE bool is_already(const ports::Identity& who) {
  uid_t uids[3];
  gid_t gids[3];
  call(SYS_getresuid, address(&uids[0]), address(&uids[1]), address(&uids[2]));
  call(SYS_getresgid, address(&gids[0]), address(&gids[1]), address(&gids[2]));
  for (int i = 0; i < 3; ++i) {
    if (uids[i] != who.uid || gids[i] != who.gid) return false;
  }
  return true;
}

FDBPACK_BARE void take_identity(Work& work) {
  const ports::LaunchPlan& plan = *work.plan;
  if (!plan.identity) return;
  const ports::Identity& who = *plan.identity;
  const bool is_root = call(SYS_geteuid) == 0;
  if (!is_root && is_already(who)) return;
  if (is_root &&
      call(SYS_setgroups, static_cast<long>(who.groups.size()), address(who.groups.data())) != 0) {
    give_up(work, "setgroups");
  }
  if (call(SYS_setresgid, who.gid, who.gid, who.gid) != 0) give_up(work, "setgid");
  if (call(SYS_setresuid, who.uid, who.uid, who.uid) != 0) give_up(work, "setuid");
}

FDBPACK_BARE void tie_to_parent(Work& work) {
  if (!work.plan->dies_with_parent) return;
  // After the change of user, which clears it; and the parent may be gone already.
  if (call(SYS_prctl, PR_SET_PDEATHSIG, SIGHUP) != 0) give_up(work, "prctl");
  if (call(SYS_getppid) != work.parent) {
    errno = ESRCH;
    give_up(work, "getppid");
  }
}

FDBPACK_BARE void write_own_pid(Work& work) {
  long pid = call(SYS_getpid);
  char digits[kPidDigits];
  std::size_t count = 0;
  do {
    digits[count++] = static_cast<char>('0' + pid % 10);
    pid /= 10;
  } while (pid > 0 && count < kPidDigits);
  for (std::size_t i = 0; i < count; ++i)
    work.pid_digits[i] = digits[count - 1 - i];
  work.pid_digits[count] = '\0';
}

FDBPACK_BARE int run_child(void* argument) {
  Work& work = *static_cast<Work*>(argument);
  leave_descriptors_behind(work);
  reset_signals();
  if (call(SYS_setpgid, 0, 0) != 0) give_up(work, "setpgid");
  apply_limits(work);
  place_descriptors(work);
  take_identity(work);
  tie_to_parent(work);
  if (call(SYS_chdir, address(work.working_directory)) != 0) give_up(work, "chdir");
  write_own_pid(work);
  const std::uint64_t no_signals = 0;
  call(SYS_rt_sigprocmask, SIG_SETMASK, address(&no_signals), 0, 8);
  call(SYS_execve, address(work.argv[0]), address(work.argv), address(work.environment));
  give_up(work, "execv");
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 2);
  for (const auto& text : texts)
    result.push_back(const_cast<char*>(text.c_str()));
  return result;
}

cpu_set_t cpu_set(const std::vector<unsigned>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const unsigned cpu : cpus)
    CPU_SET(cpu, &set);
  return set;
}

// What a child that did not get as far as its own program leaves behind.
void reap(int pidfd) {
  siginfo_t info;
  while (::waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(pidfd), &info, WEXITED) != 0 &&
         errno == EINTR) {
  }
}

UniqueFd low_duplicate(int fd) {
  return UniqueFd(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
}

ports::LaunchError spawn_error(int error_number, const char* step) {
  return ports::LaunchError{supervise::SpawnFailed{error_number, step}};
}

}  // namespace

Spawner::Spawner(int keep_fd) : keep_fd_(keep_fd), stack_(new std::byte[kStackBytes]) {
  null_ = UniqueFd(::open("/dev/null", O_RDWR | O_CLOEXEC));
  slot_out_ = low_duplicate(null_.get());
  slot_err_ = low_duplicate(null_.get());
  FDBPACK_CHECK(null_ && slot_out_ && slot_err_);
}

Spawner::~Spawner() = default;

std::variant<Spawned, ports::LaunchError> Spawner::spawn(const ports::LaunchPlan& plan) {
  if (plan.argv.empty()) return spawn_error(EINVAL, "argv");
  const int out = plan.stdout_fd >= 0 ? plan.stdout_fd : null_.get();
  const int err = plan.stderr_fd >= 0 ? plan.stderr_fd : null_.get();
  if (::dup3(out, slot_out_.get(), O_CLOEXEC) < 0 || ::dup3(err, slot_err_.get(), O_CLOEXEC) < 0) {
    return spawn_error(errno, "dup3");
  }
  auto argv = pointers(plan.argv);
  argv.push_back(nullptr);
  std::string pid_marker = std::string(ports::kMarkerPid) + "=";
  const std::size_t digits_at = pid_marker.size();
  pid_marker.append(kPidDigits + 1, '\0');
  auto environment = pointers(plan.environment);
  environment.push_back(pid_marker.data());
  environment.push_back(nullptr);

  Work work;
  work.argv = argv.data();
  work.environment = environment.data();
  work.pid_digits = pid_marker.data() + digits_at;
  work.working_directory = plan.working_directory.c_str();
  work.slots[0] = null_.get();
  work.slots[1] = slot_out_.get();
  work.slots[2] = slot_err_.get();
  work.highest_fd = std::max({null_.get(), slot_out_.get(), slot_err_.get(), keep_fd_});
  work.parent = ::getpid();
  work.plan = &plan;
  const cpu_set_t cpus = cpu_set(plan.cpus);
  if (!plan.cpus.empty()) work.cpus = &cpus;
  if (plan.oom_score_adj) {
    char* const end = std::end(work.oom_score_adj);
    const auto done = std::to_chars(work.oom_score_adj, end, *plan.oom_score_adj);
    work.oom_score_adj_size = static_cast<std::size_t>(done.ptr - work.oom_score_adj);
  }
  UniqueFd cgroup;
  if (!plan.cgroup.empty()) {
    cgroup = UniqueFd(::open(plan.cgroup.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!cgroup) return spawn_error(errno, "cgroup");
  }

  // No handler of ours may run on the child's borrowed stack.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  const Cloned cloned = clone_process(run_child, &work, stack_.get(), kStackBytes, cgroup.get());
  ::sigprocmask(SIG_SETMASK, &before, nullptr);

  if (cloned.error_number != 0) return spawn_error(cloned.error_number, "");
  UniqueFd pidfd(cloned.pidfd);
  if (work.step == nullptr) return Spawned{cloned.pid, std::move(pidfd)};
  reap(pidfd.get());
  const char* const step = work.step;
  if (std::string_view(step) != "execv") return spawn_error(work.error_number, step);
  return ports::LaunchError{supervise::ExecFailed{work.error_number}};
}

}  // namespace fdbpack::posix
