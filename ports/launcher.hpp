// SPDX-License-Identifier: Apache-2.0
//
// Starting processes, and taking over those that an earlier agent started.
//
//   launch(plan)      a new process in its own process group     -> Child, or why not
//   adopt(pidfd)      a process that lives already               -> Child
//
// A Child is the right to signal one process and to hear of its end. Destroying it does nothing to
// the process. The end is reported once, after the process was reaped, on the agent's thread and
// never from inside launch() or adopt().
#pragma once

#include "fdbpack/supervise/exit.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace fdbpack::ports {

// Who a process runs as. Names were looked up before: nothing that may block happens at a start.
struct Identity {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::vector<std::uint32_t> groups;  // supplementary, as initgroups() would set them

  bool operator==(const Identity&) const = default;
};

struct ResourceLimit {
  int resource = 0;  // RLIMIT_...
  std::uint64_t soft = 0;
  std::uint64_t hard = 0;
};

struct LaunchPlan {
  std::vector<std::string> argv;         // argv[0] is the path that is executed
  std::vector<std::string> environment;  // "NAME=value"; FDBPACK_PID is added to it
  int stdout_fd = -1;                    // -1: /dev/null
  int stderr_fd = -1;
  std::optional<Identity> identity;  // none: as the agent
  std::string working_directory = "/";
  std::optional<std::uint32_t> umask;
  std::optional<int> nice;
  std::vector<ResourceLimit> limits;
  std::vector<unsigned> cpus;  // empty: those of the agent
  std::optional<int> oom_score_adj;
  std::string cgroup;             // absolute path of a cgroup v2 directory; empty: the agent's
  bool dies_with_parent = false;  // SIGHUP when the agent ends
};

class Child {
 public:
  virtual ~Child() = default;

  [[nodiscard]] virtual int pid() const = 0;
  // The descriptor that stands for the process; it stays the Child's.
  [[nodiscard]] virtual int pidfd() const = 0;
  // 0, or the errno. ESRCH: nobody is there any more. The group can outlive the process.
  virtual int signal_process(int signal) = 0;
  virtual int signal_group(int signal) = 0;
};

// A process could not be started.
struct LaunchError {
  supervise::Exit exit;  // ExecFailed or SpawnFailed
};

// A live process was stopped (SIGSTOP, a debugger), or goes on.
struct StopChange {
  int pid = 0;
  bool is_stopped = false;
};

// `group_lives`: the process is gone and reaped, but others of its process group are not.
using OnExit = std::function<void(const supervise::Exit& exit, bool group_lives)>;

class Launcher {
 public:
  virtual ~Launcher() = default;

  using Outcome = std::variant<std::unique_ptr<Child>, LaunchError>;
  [[nodiscard]] virtual Outcome launch(const LaunchPlan& plan, OnExit on_exit) = 0;
  // Takes the descriptor over.
  [[nodiscard]] virtual std::unique_ptr<Child> adopt(int pid, int pidfd, OnExit on_exit) = 0;

  // Reaps what ended and is nobody's Child: orphans that were handed to PID 1 or to a subreaper.
  // Returns how many there were.
  virtual std::size_t reap_strangers() = 0;
  // What was stopped or went on since the last call, of processes that this agent started itself.
  [[nodiscard]] virtual std::vector<StopChange> stop_changes() { return {}; }
};

}  // namespace fdbpack::ports
