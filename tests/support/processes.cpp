// SPDX-License-Identifier: Apache-2.0
#include "tests/support/processes.hpp"

#include "tests/support/files.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

extern char** environ;

namespace fdbpack::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLookAgainMs = 5;

int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 1 << 30));
}

std::string proc_path(pid_t pid, const char* name) {
  return "/proc/" + std::to_string(pid) + "/" + name;
}

bool is_number(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (const std::string& text : texts)
    result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

}  // namespace

bool eventually(const std::string& folder, Seconds limit, const std::function<bool()>& holds) {
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
  const int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (watch >= 0) {
    inotify_add_watch(watch, folder.c_str(),
                      IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE);
  }
  bool result = holds();
  while (!result && Clock::now() < deadline) {
    pollfd waiting{watch, POLLIN, 0};
    poll(&waiting, watch >= 0 ? 1 : 0, std::min(kLookAgainMs, milliseconds_until(deadline)));
    char events[4096];
    while (watch >= 0 && read(watch, events, sizeof events) > 0) {
    }
    result = holds();
  }
  if (watch >= 0) close(watch);
  return result;
}

Pidfd::Pidfd(pid_t pid) : pid_(pid), fd_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))) {}

Pidfd::~Pidfd() {
  if (fd_ >= 0) close(fd_);
}

Pidfd::Pidfd(Pidfd&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), fd_(std::exchange(other.fd_, -1)) {}

Pidfd& Pidfd::operator=(Pidfd&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(fd_, other.fd_);
  return *this;
}

bool Pidfd::send(int signal) const {
  return fd_ >= 0 && syscall(SYS_pidfd_send_signal, fd_, signal, nullptr, 0) == 0;
}

bool Pidfd::wait_for_end(Seconds limit) const {
  if (fd_ < 0) return true;
  pollfd waiting{fd_, POLLIN, 0};
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(limit).count();
  return poll(&waiting, 1, static_cast<int>(ms)) == 1;
}

ProcessInfo process_info(pid_t pid) {
  ProcessInfo info;
  const std::string text = read_file(proc_path(pid, "stat"));
  const std::size_t behind_name = text.rfind(')');
  if (behind_name == std::string::npos) return info;
  std::istringstream fields(text.substr(behind_name + 2));
  std::vector<std::string> words;
  for (std::string word; fields >> word;)
    words.push_back(word);
  if (words.size() < 20) return info;
  info.state = words[0][0];
  info.parent = std::atoi(words[1].c_str());
  info.group = std::atoi(words[2].c_str());
  info.cpu_ticks = std::stoull(words[11]) + std::stoull(words[12]);
  info.start_ticks = std::stoull(words[19]);
  return info;
}

bool is_alive(pid_t pid) {
  const char state = process_info(pid).state;
  return state != 'X' && state != 'Z';
}

std::optional<std::string> environment_of(pid_t pid, std::string_view name) {
  const std::string text = read_file(proc_path(pid, "environ"));
  const std::string wanted = std::string(name) + "=";
  for (std::size_t at = 0; at < text.size(); at = text.find('\0', at) + 1) {
    if (text.compare(at, wanted.size(), wanted) == 0) {
      return text.substr(at + wanted.size(), text.find('\0', at) - at - wanted.size());
    }
    if (text.find('\0', at) == std::string::npos) break;
  }
  return std::nullopt;
}

std::string executable_of(pid_t pid) {
  std::error_code error;
  const auto target = std::filesystem::read_symlink(proc_path(pid, "exe"), error);
  return error ? "" : target.string();
}

std::size_t lowest_free_descriptor(pid_t pid) {
  std::size_t number = 0;
  while (std::filesystem::is_symlink(proc_path(pid, "fd") + "/" + std::to_string(number)))
    ++number;
  return number;
}

std::uint64_t resident_kib(pid_t pid) {
  std::istringstream text(read_file(proc_path(pid, "status")));
  for (std::string line; std::getline(text, line);) {
    if (line.rfind("VmRSS:", 0) == 0) return std::stoull(line.substr(6));
  }
  return 0;
}

std::vector<pid_t> processes_marked(std::string_view name, std::string_view value) {
  std::vector<pid_t> found;
  std::error_code error;
  for (auto at = std::filesystem::directory_iterator("/proc", error);
       !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const std::string text = at->path().filename().string();
    if (!is_number(text)) continue;
    const pid_t pid = std::atoi(text.c_str());
    if (environment_of(pid, name) == std::string(value)) found.push_back(pid);
  }
  return found;
}

void kill_marked(std::string_view name, std::string_view value) {
  for (int round = 0; round < 200; ++round) {
    bool found = false;
    for (const pid_t pid : processes_marked(name, value)) {
      const Pidfd process(pid);
      // Opened first and looked at again after: whatever has this number now is still ours.
      if (environment_of(pid, name) != std::string(value)) continue;
      found = process.send(SIGKILL) || found;
      (void)process.wait_for_end(Seconds(2));
    }
    if (!found) return;
  }
}

pid_t spawn(const SpawnRequest& request) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const int wanted[] = {request.input, request.output, request.error};
  for (int fd = 0; fd < 3; ++fd) {
    if (wanted[fd] >= 0) {
      posix_spawn_file_actions_adddup2(&actions, wanted[fd], fd);
    } else {
      posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
    }
  }
  const auto argv = pointers(request.argv);
  const auto environment = pointers(request.environment);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::system_error(error, std::generic_category(), request.argv[0]);
  return pid;
}

std::vector<std::string> environment_with(const std::vector<std::string>& more) {
  std::vector<std::string> result = more;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string start = text.substr(0, text.find('=') + 1);
    const bool is_replaced = std::any_of(
        more.begin(), more.end(), [&](const std::string& m) { return m.rfind(start, 0) == 0; });
    if (!is_replaced) result.push_back(text);
  }
  return result;
}

int run_to_end(const std::vector<std::string>& argv) {
  const pid_t pid = spawn({argv, environment_with({}), -1, -1, -1});
  int status = 0;
  if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

DeafServer::DeafServer() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  void* untyped = &address;
  socklen_t size = sizeof address;
  if (bind(fd_, static_cast<sockaddr*>(untyped), size) != 0 || listen(fd_, 8) != 0 ||
      getsockname(fd_, static_cast<sockaddr*>(untyped), &size) != 0) {
    throw std::system_error(errno, std::generic_category(), "listening");
  }
  port_ = ntohs(address.sin_port);
}

void DeafServer::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

int free_port() {
  return DeafServer().port();
}

}  // namespace fdbpack::test
