// SPDX-License-Identifier: Apache-2.0
//
// fdbserver-standin: looks like fdbserver 7.1 to whoever starts and watches it, and stores
// nothing. For tests and demonstrations on machines without FoundationDB; no package installs it.
//
//   arguments ─► cluster file ─► bind ─► lock DATADIR/processId ─► waiting ─► joined
//    exit 1       exit 10        exit 1   exit 1                    │  a coordinator accepts
//                                                                  └─ warning after 5 s
//
// It says "FDBD joined cluster." when one of the coordinators of its cluster file accepts a
// connection (itself included). Signals end it as they end fdbserver. A connection that sends
// "standin kill\n" makes it exit with 0, which is what `fdbcli kill` does to fdbserver.
#include "standins/server_options.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using fdbpack::standins::Address;
using fdbpack::standins::Refusal;
using fdbpack::standins::ServerOptions;

constexpr char kVersion[] =
    "FoundationDB 7.1 (v7.1.67)\n"
    "source version f1ab8147ed1cf905def48307c9ec94fb1b294170\n"
    "protocol fdb00b071010000\n"
    "fdbserver-standin: not FoundationDB\n";

constexpr int kConnectTimeoutMs = 200;
constexpr int kStepMs = 250;
constexpr long long kWarnAfterMs = 5000;

long long now_ms() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<long long>(now.tv_sec) * 1000 + now.tv_nsec / 1000000;
}

struct Resolved {
  sockaddr_storage address{};
  socklen_t size = 0;
  int family = 0;
};

bool resolve(const Address& address, Resolved& resolved) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const std::string port = std::to_string(address.port);
  if (getaddrinfo(address.host.c_str(), port.c_str(), &hints, &list) != 0) return false;
  std::memcpy(&resolved.address, list->ai_addr, list->ai_addrlen);
  resolved.size = list->ai_addrlen;
  resolved.family = list->ai_family;
  freeaddrinfo(list);
  return true;
}

const sockaddr* as_sockaddr(const Resolved& resolved) {
  const void* untyped = &resolved.address;
  return static_cast<const sockaddr*>(untyped);
}

// A listening socket, or -1 with errno set.
int listen_on(const Address& address) {
  Resolved resolved;
  if (!resolve(address, resolved)) {
    errno = EADDRNOTAVAIL;
    return -1;
  }
  const int fd = socket(resolved.family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(fd, as_sockaddr(resolved), resolved.size) == 0 && listen(fd, 64) == 0) return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

bool accepts(const Address& address) {
  Resolved resolved;
  if (!resolve(address, resolved)) return false;
  const int fd = socket(resolved.family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  connect(fd, as_sockaddr(resolved), resolved.size);
  pollfd waiting{fd, POLLOUT, 0};
  int error = ETIMEDOUT;
  socklen_t size = sizeof error;
  if (poll(&waiting, 1, kConnectTimeoutMs) == 1) {
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  }
  close(fd);
  return error == 0;
}

void make_folders(const std::string& path) {
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    mkdir(path.substr(0, at).c_str(), 0777);
  }
  mkdir(path.c_str(), 0777);
}

std::optional<Refusal> lock_datadir(const std::string& datadir) {
  make_folders(datadir);
  const std::string path = datadir + "/processId";
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) {
    return Refusal{"ERROR: error creating or opening process id file `" + path +
                       "'.\nFatal Error: Disk i/o operation failed\n",
                   1};
  }
  if (flock(fd, LOCK_EX | LOCK_NB) != 0)
    return Refusal{"Fatal Error: Disk i/o operation failed\n", 1};
  return std::nullopt;
}

// One address pair of --public-address and --listen-address after the other.
std::optional<Refusal> listen_on_all(const char* program, const ServerOptions& options,
                                     std::vector<pollfd>& listeners) {
  for (std::size_t i = 0; i < options.public_addresses.size(); ++i) {
    const auto shown = fdbpack::standins::parse_address(options.public_addresses[i]);
    const bool has_listen = i < options.listen_addresses.size();
    const auto bound =
        has_listen ? fdbpack::standins::parse_address(options.listen_addresses[i]) : shown;
    const std::string tail = std::string("Try `") + program + " --help' for more information.\n";
    if (!shown || !bound) {
      const std::string& text = shown ? options.listen_addresses[i] : options.public_addresses[i];
      return Refusal{"ERROR: Could not parse network address `" + text +
                         "' (specify as IP_ADDRESS:PORT)\n" + tail,
                     1};
    }
    const int fd = listen_on(*bound);
    if (fd < 0) {
      const char* why = errno == EADDRINUSE ? "Local address in use" : "Invalid local address";
      return Refusal{"Error initializing networking with public address " + shown->text +
                         " and listen address " + bound->text + " (" + why + ")\n" + tail,
                     1};
    }
    listeners.push_back({fd, POLLIN, 0});
  }
  return std::nullopt;
}

// Connections are answered one at a time and closed: nothing here needs more.
void answer(int listener) {
  const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd < 0) return;
  char text[64] = {};
  pollfd waiting{fd, POLLIN, 0};
  if (poll(&waiting, 1, kConnectTimeoutMs) == 1 && read(fd, text, sizeof text - 1) > 0 &&
      std::strcmp(text, "standin kill\n") == 0) {
    _exit(0);
  }
  close(fd);
}

void say_signal(int number) {
  const char text[] =
      "SIGNAL: Segmentation fault (11)\nTrace: addr2line -e fdbserver.debug -p -C -f -i\n";
  if (write(2, text, sizeof text - 1) < 0) _exit(1);
  signal(number, SIG_DFL);
  raise(number);
}

[[noreturn]] void serve(const ServerOptions& options, std::vector<pollfd> listeners,
                        const std::vector<Address>& coordinators) {
  const long long started = now_ms();
  bool has_joined = false;
  bool has_warned = false;
  for (std::size_t turn = 0;; ++turn) {
    if (!has_joined && accepts(coordinators[turn % coordinators.size()])) {
      has_joined = true;
      std::puts("FDBD joined cluster.");
    }
    if (!has_joined && !has_warned && now_ms() - started >= kWarnAfterMs) {
      has_warned = true;
      std::fputs(
          "Warning: FDBD has not joined the cluster after 5 seconds.\n"
          "  Check configuration and availability using the 'status' command with the fdbcli\n",
          stderr);
    }
    if (options.parent_pid != 0 && getppid() != options.parent_pid) _exit(0);
    const bool is_settled = has_joined && options.parent_pid == 0;
    if (poll(listeners.data(), listeners.size(), is_settled ? -1 : kStepMs) <= 0) continue;
    for (const pollfd& listener : listeners) {
      if (listener.revents != 0) answer(listener.fd);
    }
  }
}

int refuse(const Refusal& refusal) {
  std::fputs(refusal.message.c_str(), stderr);
  return refusal.exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  std::setvbuf(stderr, nullptr, _IONBF, 0);
  ServerOptions options;
  if (const auto refusal = fdbpack::standins::read_arguments(argc, argv, options)) {
    return refuse(*refusal);
  }
  if (options.wants_version || options.wants_help) {
    std::fputs(kVersion, stdout);
    if (options.wants_help) std::printf("Usage: %s -p ADDRESS [OPTIONS]\n", argv[0]);
    return 0;
  }
  std::puts("fdbserver-standin: not FoundationDB, keeps no data");
  std::vector<Address> coordinators;
  if (const auto refusal = fdbpack::standins::read_cluster_file(options, coordinators)) {
    return refuse(*refusal);
  }
  std::vector<pollfd> listeners;
  if (const auto refusal = listen_on_all(argv[0], options, listeners)) return refuse(*refusal);
  if (const auto refusal = lock_datadir(options.datadir)) return refuse(*refusal);
  signal(SIGSEGV, say_signal);
  signal(SIGPIPE, SIG_IGN);
  serve(options, std::move(listeners), coordinators);
}
