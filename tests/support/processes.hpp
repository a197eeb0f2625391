// SPDX-License-Identifier: Apache-2.0
//
// What tests ask of processes: who lives, in which state, and an end that cannot hit a stranger.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fdbpack::test {

using Seconds = std::chrono::duration<double>;

// True as soon as `holds` is true; false when it was not within `limit`. Looks again whenever
// something changes in `folder`, and every few milliseconds for what leaves no trace there.
[[nodiscard]] bool eventually(const std::string& folder, Seconds limit,
                              const std::function<bool()>& holds);

// A running process, held by its pidfd.
class Pidfd {
 public:
  explicit Pidfd(pid_t pid);
  ~Pidfd();
  Pidfd(Pidfd&& other) noexcept;
  Pidfd& operator=(Pidfd&& other) noexcept;

  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  bool send(int signal) const;
  // True when the process is gone, or a zombie, within `limit`.
  [[nodiscard]] bool wait_for_end(Seconds limit) const;

 private:
  pid_t pid_ = -1;
  int fd_ = -1;
};

struct ProcessInfo {
  char state = 'X';  // R S D T Z; X: there is no such process
  pid_t parent = 0;
  pid_t group = 0;
  std::uint64_t cpu_ticks = 0;
  std::uint64_t start_ticks = 0;
};

[[nodiscard]] ProcessInfo process_info(pid_t pid);
// It runs: not a zombie, not gone.
[[nodiscard]] bool is_alive(pid_t pid);
[[nodiscard]] std::optional<std::string> environment_of(pid_t pid, std::string_view name);
[[nodiscard]] std::string executable_of(pid_t pid);
// With this as its limit the process can open nothing, whatever the test's caller let it inherit.
[[nodiscard]] std::size_t lowest_free_descriptor(pid_t pid);
[[nodiscard]] std::uint64_t resident_kib(pid_t pid);

// Every process whose environment holds `name=value`.
[[nodiscard]] std::vector<pid_t> processes_marked(std::string_view name, std::string_view value);
// Ends all of them, and those they start meanwhile.
void kill_marked(std::string_view name, std::string_view value);

// argv[0] is a path or is found in PATH. Descriptors become 0, 1 and 2 of the process.
struct SpawnRequest {
  std::vector<std::string> argv;
  std::vector<std::string> environment;
  int input = -1;  // -1: /dev/null
  int output = -1;
  int error = -1;
};
[[nodiscard]] pid_t spawn(const SpawnRequest& request);

// The environment of this process without `names`, and with `more` ("NAME=value").
[[nodiscard]] std::vector<std::string> environment_with(const std::vector<std::string>& more);

// Runs to its end; its exit code, or -1.
int run_to_end(const std::vector<std::string>& argv);

// Listens on a port of 127.0.0.1 of its own, and answers nobody.
class DeafServer {
 public:
  DeafServer();
  ~DeafServer() { close(); }
  DeafServer(const DeafServer&) = delete;
  DeafServer& operator=(const DeafServer&) = delete;

  [[nodiscard]] int port() const { return port_; }
  void close();

 private:
  int fd_;
  int port_ = 0;
};

// A port of 127.0.0.1 that was free a moment ago.
[[nodiscard]] int free_port();

}  // namespace fdbpack::test
