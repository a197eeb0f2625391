// SPDX-License-Identifier: Apache-2.0
#include "tests/adapters/store/etcd_server.hpp"

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
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

namespace fdbpack::test {
namespace {

constexpr const char* kProgram = "/usr/bin/etcd";
constexpr auto kStartMax = std::chrono::seconds(30);

// Everything that comes back before the other end closes; empty when it cannot be reached.
std::string exchange(const std::string& path, const std::string& text) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return {};
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::string result;
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
      ::send(fd, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size())) {
    std::array<char, 4096> buffer{};
    pollfd waiting{fd, POLLIN, 0};
    ssize_t count = 0;
    while (::poll(&waiting, 1, 5000) == 1 &&
           (count = ::read(fd, buffer.data(), buffer.size())) > 0) {
      result.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }
  ::close(fd);
  return result;
}

}  // namespace

std::optional<std::string> EtcdServer::reason_to_skip() {
  if (::access(kProgram, X_OK) == 0) return std::nullopt;
  return std::string(kProgram) + " is not there; tools/install-dependencies test installs it";
}

EtcdServer::EtcdServer(std::vector<std::string> more, std::string client_url)
    : more_(std::move(more)), client_url_(client_url.empty() ? "unix://client:1" : client_url) {
  start();
}

EtcdServer::~EtcdServer() {
  kill();
}

void EtcdServer::start() {
  std::vector<std::string> words = {kProgram,
                                    "--data-dir",
                                    "data",
                                    "--listen-client-urls",
                                    client_url_,
                                    "--advertise-client-urls",
                                    client_url_,
                                    "--listen-peer-urls",
                                    "unix://peer:1",
                                    "--initial-advertise-peer-urls",
                                    "unix://peer:1",
                                    "--initial-cluster",
                                    "default=unix://peer:1",
                                    "--heartbeat-interval",
                                    "100",
                                    "--election-timeout",
                                    "500"};
  words.insert(words.end(), more_.begin(), more_.end());
  std::vector<char*> argv;
  for (auto& word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::string folder = folder_.path().string();
  for (const char* left_behind : {"client:1", "peer:1"})  // by one that was killed
    ::unlink(folder_.file(left_behind).c_str());
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent || ::chdir(folder.c_str()) != 0) ::_exit(126);
    const int log = ::open("log", O_WRONLY | O_CREAT | O_APPEND, 0644);
    ::dup2(log, 1);
    ::dup2(log, 2);
    ::execv(kProgram, argv.data());
    ::_exit(127);
  }
  const auto end = std::chrono::steady_clock::now() + kStartMax;
  while (!answers()) {
    int status = 0;
    const bool has_ended = ::waitpid(pid_, &status, WNOHANG) == pid_;
    if (has_ended) pid_ = -1;
    if (has_ended || std::chrono::steady_clock::now() > end) {
      std::ifstream log(folder_.file("log"));
      const std::string said((std::istreambuf_iterator<char>(log)), {});
      throw std::runtime_error("etcd does not start: " +
                               said.substr(said.size() > 2000 ? said.size() - 2000 : 0));
    }
    // There is nothing to wait for but the socket's answer.
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

bool EtcdServer::answers() const {
  if (client_url_.starts_with("unix://")) {
    const std::string answer = ask("/v3/kv/range", R"({"key":"AA=="})");
    // The second when it knows users.
    return answer.find("\"revision\"") != std::string::npos ||
           answer.find("user name is empty") != std::string::npos;
  }
  std::ifstream log(folder_.file("log"));
  const std::string said((std::istreambuf_iterator<char>(log)), {});
  return said.find("ready to serve client requests") != std::string::npos;
}

std::string EtcdServer::ask(const std::string& path, const std::string& body) const {
  const std::string answer =
      exchange(socket(), "POST " + path + " HTTP/1.1\r\nHost: etcd\r\nConnection: close\r\n" +
                             "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  const auto head_end = answer.find("\r\n\r\n");
  return head_end == std::string::npos ? std::string() : answer.substr(head_end + 4);
}

void EtcdServer::send(int signal) const {
  ::kill(pid_, signal);
}

void EtcdServer::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

}  // namespace fdbpack::test
