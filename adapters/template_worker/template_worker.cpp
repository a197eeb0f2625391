// SPDX-License-Identifier: Apache-2.0
#include "adapters/template_worker/template_worker.hpp"

#include "fdbpack/wire/render_request.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>

namespace fdbpack::adapters {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kAnswerBytesMax = 8u << 20;  // 4 MiB of text, escaped

Error system_error(const char* what, int code) {
  return {ErrorCode::unavailable, fmt::format("the template worker cannot be used: {}: {}", what,
                                              std::generic_category().message(code))};
}

// A running child and our end of the socket that is its standard input and output. Ends the child
// when it goes.
class Worker {
 public:
  Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    if (socket_ >= 0) ::close(socket_);
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      (void)wait();
    }
  }

  Status start(const std::string& program) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      return fail(system_error("socketpair", errno));
    }
    socket_ = ends[0];
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    std::string name = "fdbpack";
    std::string command = kTemplateWorkerCommand;
    std::array<char*, 3> argv{name.data(), command.data(), nullptr};
    std::array<char*, 1> environment{nullptr};  // nothing of ours is a template's business
    const int error = ::posix_spawn(&pid_, program.c_str(), &actions, &attributes, argv.data(),
                                    environment.data());
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    ::close(ends[1]);
    if (error != 0) {
      pid_ = -1;
      return fail(system_error(program.c_str(), error));
    }
    return {};
  }

  // Sends the request and reads to the end of the answer.
  Result<std::string> exchange(std::string_view request, Clock::time_point deadline) {
    std::string answer;
    while (true) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
      pollfd poll_fd{socket_, static_cast<short>(request.empty() ? POLLIN : POLLIN | POLLOUT), 0};
      const int ready = left <= 0 ? 0 : ::poll(&poll_fd, 1, static_cast<int>(left));
      if (ready < 0 && errno == EINTR) continue;
      if (ready < 0) return fail(system_error("poll", errno));
      if (ready == 0) return fail(ErrorCode::timed_out, "the template takes too long to render");
      if ((poll_fd.revents & POLLOUT) != 0 && !request.empty()) {
        const ssize_t sent =
            ::send(socket_, request.data(), request.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) request.remove_prefix(static_cast<std::size_t>(sent));
        if (request.empty() || (sent < 0 && errno == EPIPE)) {
          request = {};
          ::shutdown(socket_, SHUT_WR);
        }
      }
      if ((poll_fd.revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
      std::array<char, 65536> buffer;
      const ssize_t count = ::recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (count <= 0) return answer;
      answer.append(buffer.data(), static_cast<std::size_t>(count));
      if (answer.size() > kAnswerBytesMax) {
        return fail(ErrorCode::invalid_argument,
                    "the template renders to more text than any conf needs");
      }
    }
  }

  // The child's wait status; -1 when somebody else (a reaper of strangers) was quicker.
  int wait() {
    int status = -1;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_ = -1;
  int socket_ = -1;
};

Error explain_death(const std::string& name, int status) {
  std::string how = "the template engine stopped without an answer";
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    how = signal == SIGXCPU || signal == SIGKILL
              ? std::string("the template takes too much time or memory to render")
              : fmt::format("the template engine crashed (signal {}, {})", signal,
                            ::strsignal(signal));
  }
  return {ErrorCode::invalid_argument,
          fmt::format("{}: {}; something in the template is malformed", name, how)};
}

}  // namespace

TemplateWorker::TemplateWorker(std::string program, std::chrono::milliseconds deadline)
    : program_(std::move(program)), deadline_(deadline) {}

void TemplateWorker::end_within(std::chrono::milliseconds time) {
  end_ = Clock::now() + time;
}

Result<std::string> TemplateWorker::render(const conf::TemplateSet& templates,
                                           const std::string& name,
                                           const std::string& values_json) {
  Worker worker;
  Status started = worker.start(program_);
  if (!started) return fail(with_context(std::move(started).error(), name));
  const std::string request = wire::write_render_request({templates, name, values_json});
  auto answer = worker.exchange(request, std::min(Clock::now() + deadline_, end_));
  if (!answer) return fail(with_context(std::move(answer).error(), name));
  const int status = worker.wait();
  if (answer->empty()) return fail(explain_death(name, status));
  return wire::read_render_answer(*answer);
}

}  // namespace fdbpack::adapters
