// SPDX-License-Identifier: Apache-2.0
#include "tests/adapters/store/etcd_server.hpp"

#include "tests/support/files.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/processes.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <stdexcept>

namespace fdbpack::test {
namespace {

constexpr const char* kProgram = "/usr/bin/etcd";
constexpr auto kStartMax = std::chrono::seconds(30);

std::optional<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return std::nullopt;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

// Where etcd tells that it is ready, as it tells systemd.
class Notice {
 public:
  explicit Notice(const std::string& path)
      : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    ::unlink(path.c_str());
    const auto address = address_of(path);
    if (!address || ::bind(fd_, reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0)
      throw std::runtime_error("no socket at " + path);
  }
  ~Notice() { ::close(fd_); }
  Notice(const Notice&) = delete;
  Notice& operator=(const Notice&) = delete;

  // False when the process ends instead, or nothing happens in time.
  [[nodiscard]] bool wait_for_ready(const Pidfd& process) const {
    const auto deadline = std::chrono::steady_clock::now() + kStartMax;
    std::array<pollfd, 2> waiting{pollfd{fd_, POLLIN, 0}, pollfd{process.fd(), POLLIN, 0}};
    while (true) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          deadline - std::chrono::steady_clock::now());
      if (left.count() <= 0 || ::poll(waiting.data(), waiting.size(), int(left.count())) <= 0)
        return false;
      std::array<char, 4096> text{};
      const ssize_t size = ::recv(fd_, text.data(), text.size(), 0);
      if (size > 0 && std::string_view(text.data(), std::size_t(size)).starts_with("READY=1"))
        return true;
      if (waiting[1].revents != 0) return false;
    }
  }

 private:
  int fd_;
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (auto& text : texts)
    result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

std::optional<std::string> EtcdServer::reason_to_skip() {
  if (::access(kProgram, X_OK) == 0) return std::nullopt;
  return std::string(kProgram) + " is not there; tools/install-dependencies test installs it";
}

EtcdServer::EtcdServer(std::vector<std::string> more) : more_(std::move(more)) {
  start();
}

EtcdServer::~EtcdServer() {
  kill();
}

void EtcdServer::start() {
  std::vector<std::string> words = {kProgram,
                                    "--data-dir=data",
                                    "--listen-client-urls=unix://client:1",
                                    "--advertise-client-urls=unix://client:1",
                                    "--listen-peer-urls=unix://peer:1",
                                    "--initial-advertise-peer-urls=unix://peer:1",
                                    "--initial-cluster=default=unix://peer:1",
                                    "--heartbeat-interval=100",
                                    "--election-timeout=500"};
  words.insert(words.end(), more_.begin(), more_.end());
  auto environment = environment_with({"NOTIFY_SOCKET=" + folder_.file("notice")});
  const auto argv = pointers(words);
  const auto envp = pointers(environment);
  const std::string folder = folder_.path().string();
  for (const char* left_behind : {"client:1", "peer:1"})  // by one that was killed
    ::unlink(folder_.file(left_behind).c_str());
  const Notice notice(folder_.file("notice"));
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent || ::chdir(folder.c_str()) != 0) ::_exit(126);
    const int log = ::open("log", O_WRONLY | O_CREAT | O_APPEND, 0644);
    ::dup2(log, 1);
    ::dup2(log, 2);
    ::execve(kProgram, argv.data(), envp.data());
    ::_exit(127);
  }
  if (notice.wait_for_ready(Pidfd(pid_))) return;
  kill();
  const std::string said = read_file(folder_.file("log"));
  throw std::runtime_error("etcd does not start: " +
                           said.substr(said.size() > 2000 ? said.size() - 2000 : 0));
}

std::string EtcdServer::ask(const std::string& path, const std::string& body) const {
  return Client(socket()).ask(post(path, body)).body;
}

void EtcdServer::stop() const {
  ::kill(pid_, SIGSTOP);
  ::waitpid(pid_, nullptr, WUNTRACED);
}

void EtcdServer::resume() const {
  ::kill(pid_, SIGCONT);
}

void EtcdServer::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

}  // namespace fdbpack::test
