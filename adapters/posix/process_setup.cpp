// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/process_setup.hpp"

#include "adapters/posix/inherited_fds.hpp"

#include <climits>

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace fdbpack::posix {
namespace {

constexpr std::array kHeardSignals = {SIGHUP, SIGINT, SIGTERM, SIGUSR2, SIGCHLD};

// A signal that comes before there is a handler would end the agent; held, it is heard later.
void hold_signals() {
  sigset_t heard;
  ::sigemptyset(&heard);
  for (const int signal : kHeardSignals)
    ::sigaddset(&heard, signal);
  ::sigprocmask(SIG_BLOCK, &heard, nullptr);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const auto& text : texts)
    result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

}  // namespace

std::vector<ports::ResourceLimit> raise_limits() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return {};
  const ports::ResourceLimit before{RLIMIT_NOFILE, limit.rlim_cur, limit.rlim_max};
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return {};
  return {before};
}

void become_supervisor() {
  hold_signals();
  // Whoever started us may have ignored what we must hear.
  for (const int signal : kHeardSignals)
    ::signal(signal, SIG_DFL);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGIO, SIG_IGN);  // sent when somebody opens a conf for writing while we hold a lease
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::syscall(SYS_close_range, 3, UINT_MAX, CLOSE_RANGE_CLOEXEC);
}

void hear_signals() {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

Daemon Daemon::start() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) std::exit(71);
  const pid_t child = ::fork();
  if (child < 0) std::exit(71);
  if (child > 0) {
    ::close(ends[1]);
    unsigned char code = 1;  // it died before it said anything
    if (::read(ends[0], &code, 1) != 1) code = 1;
    ::_exit(code);
  }
  ::close(ends[0]);
  ::setsid();
  for (const int signal : {SIGTSTP, SIGTTOU, SIGTTIN})
    ::signal(signal, SIG_IGN);
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    ::dup2(null.get(), fd);
  Daemon daemon;
  daemon.to_parent_ = UniqueFd(ends[1]);
  return daemon;
}

void Daemon::report(int exit_code) {
  if (!to_parent_) return;
  const auto code = static_cast<unsigned char>(exit_code);
  while (::write(to_parent_.get(), &code, 1) < 0 && errno == EINTR) {
  }
  to_parent_.reset();
}

std::vector<std::string> own_environment() {
  std::vector<std::string> result;
  for (char** variable = environ; *variable != nullptr; ++variable)
    result.emplace_back(*variable);
  return result;
}

Error replace_program(const wire::Handover& handover, const std::string& program,
                      const std::vector<std::string>& arguments,
                      const std::vector<std::string>& environment) {
  const UniqueFd memory(::memfd_create("fdbpack-handover", MFD_ALLOW_SEALING));
  if (!memory) return posix::errno_error("memfd_create", errno);
  const std::string text = wire::print(handover);
  if (::write(memory.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return posix::errno_error("writing the handover", errno);
  }
  ::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
  std::vector<std::string> all = environment;
  // The variable may be there already: this program may be a replacement itself.
  const std::string handover_start = std::string(kHandoverVariable) + "=";
  std::erase_if(all, [&handover_start](const std::string& variable) {
    return variable.starts_with("LISTEN_") || variable.starts_with(handover_start);
  });
  all.push_back(handover_start + std::to_string(memory.get()));
  const auto fds = descriptors(handover);
  const auto argv = pointers(arguments);
  const auto envp = pointers(all);
  set_inherited(fds, true);
  // The handlers end with this program; what is blocked stays so until the next one has its own.
  hold_signals();
  ::execve(program.c_str(), argv.data(), envp.data());
  const int error_number = errno;
  hear_signals();
  set_inherited(fds, false);
  return posix::errno_error("executing " + program, error_number);
}

std::string program_path() {
  std::array<char, PATH_MAX> target{};
  const ssize_t size = ::readlink("/proc/self/exe", target.data(), target.size());
  std::string path(target.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  constexpr std::string_view kDeleted = " (deleted)";
  if (path.ends_with(kDeleted)) path.resize(path.size() - kDeleted.size());
  return path;
}

}  // namespace fdbpack::posix
