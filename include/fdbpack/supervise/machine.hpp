// SPDX-License-Identifier: Apache-2.0
//
// The life of one supervised process, as a function: step(state, event, policy, now, random) gives
// the next state and what is to be done. It reads no clock and touches nothing; the loop that
// calls it performs the actions and reports what happens as the next events.
//
// Phases
//
//   +------+  wanted  +----------+ launched +---------+  stop   +----------+ kill_at +---------+
//   | Down | -------> | Starting | -------> | Running | ------> | Stopping | ------> | Killing |
//   +------+          +----------+          +---------+         +----------+         +---------+
//      ^                ^       |             ^     |                |                    |
//      |          timer |       | launch_     |     | exited         | exited             | exited
//      |          +---------+   | failed   adopted  v                v                    v
//      |          | Waiting |   +--------------> [ what comes now? ] <--------------------+
//      |          +---------+                     |    |    |     |
//      |               ^------- restart ladder ---+    |    |     +---> forgotten
//      |           Starting <-- stopped in order to ---+    |
//      |                        run anew: at once           |
//      +----------------------- is to stay down ------------+
//
//   "stop" is any of: stop, restart, a new command line with kill_on_change, deconfigured with
//   kill, memory exceeded, shutdown. Asked for in Starting it takes effect at `launched`. In
//   Waiting nothing lives: stop and shutdown lead to Down, deconfigured to forgotten, and start,
//   restart and a new command line with kill_on_change to Starting.
//
//   Down      nothing lives and no start is due: an administrator's stop, a shutdown, or new
//   Waiting   nothing lives; it is started when the restart delay is over
//   Starting  a launch was asked for, the answer is outstanding
//   Running   it lives: ours or adopted, joined to the database or not yet
//   Stopping  SIGTERM and SIGCONT were sent to its group; SIGKILL follows at `kill_at`
//   Killing   SIGKILL was sent to its group; it is sent again, ever more rarely, until it is gone
//   Clearing  (between `exited` and "what comes now?") the process itself is gone but members of
//             its group live: they are killed, and it goes on when `group_gone` comes
//
// What comes after an end is decided when it comes, by three facts that are kept all the time, in
// this order: shutting down -> Down; not configured -> forgotten; held by an administrator ->
// Down; otherwise it is started: at once after a stop for a new command line or an administrator's
// restart, by the restart ladder (backoff.hpp) after an end of its own and after a memory stop.
//
// Rules
//   - At most one copy lives. Launch is only asked for while nothing lives: never from Starting,
//     Running, Stopping, Killing or Clearing. A process that cannot be killed (state D) is shown
//     as stuck, and delays no other.
//   - It never gives up.
//   - The command line is made by the loop when it performs Launch, from the newest configuration.
//     A configuration that comes during a restart delay is therefore used in any case; with
//     kill_on_change and a new command line the delay ends at once and the ladder begins anew.
//   - An administrator's stop holds over reloads until start or restart.
//   - The cause of a death is kept: what dies after a memory stop died of its memory limit.
//   - One timer. SetTimer states the only deadline in force; it is always equal to
//     deadline(state). A timer that fires early or twice does no harm.
//
// What the loop owes the machine
//   - To each Launch exactly one Launched or LaunchFailed, and Launched before any event about
//     that process.
//   - Exited after the process was reaped, with `group_lives` when kill(-pgid, 0) still finds
//     somebody. After that GroupGone once nobody is left; a signal to the group that fails with
//     ESRCH is the sign.
//   - Adopted before Configured. Afterwards Configured or Deconfigured for every machine.
//   - A group that an earlier agent left without its process is adopted like one, and reported at
//     once as exited with `group_lives`.
//   - All actions of a step are performed, in their order, before the next event.
//   - After Forgotten the machine is dropped.
//   - A stop by an administrator that is to survive the agent is sent again as Stop before
//     Configured.
#pragma once

#include "fdbpack/base/instant.hpp"
#include "fdbpack/base/random.hpp"
#include "fdbpack/model/restart_policy.hpp"
#include "fdbpack/supervise/backoff.hpp"
#include "fdbpack/supervise/exit.hpp"

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace fdbpack::supervise {

inline constexpr int kSignalTerminate = SIGTERM;
inline constexpr int kSignalContinue = SIGCONT;
inline constexpr int kSignalKill = SIGKILL;

// Whoever ends by itself before it has run for so long dies quickly.
inline constexpr Duration kQuickDeathBelow = std::chrono::seconds(10);

// What a process runs with, as two numbers that survive the agent: equal means the same.
// conf_change.hpp makes them.
struct Revision {
  std::uint64_t command = 0;   // argv, user, group: a difference is worth a restart
  std::uint64_t settings = 0;  // environment, limits, ...: a difference waits for the next start

  bool operator==(const Revision&) const = default;
};

// What the newest configuration says about how this process is to be treated.
struct Policy {
  std::string section;  // "fdbserver.4500", for the notes
  std::string command;  // argv[0], for the notes
  model::RestartPolicy restart;
  Duration stop_grace = std::chrono::seconds(10);  // from SIGTERM to SIGKILL
  bool is_quiet = false;                           // disable-lifecycle-logging
};

// ---- state ------------------------------------------------------------------------------------

struct Process {
  int pid = 0;
  Instant since;
  Revision revision;
  bool is_adopted = false;
  std::optional<Instant> joined_at;

  bool operator==(const Process&) const = default;
};

enum class StopReason { administrator, restart, configuration, deconfigured, memory, shutdown };
[[nodiscard]] std::string_view to_string(StopReason reason);

struct Down {
  Instant since;
  bool operator==(const Down&) const = default;
};

struct Waiting {
  Instant since;
  Instant until;
  bool is_spaced = false;  // the delay comes from the limit on restarts at once
  bool operator==(const Waiting&) const = default;
};

struct Starting {
  Instant since;
  Revision revision;  // the newest when the launch was asked for
  bool operator==(const Starting&) const = default;
};

struct Running {
  Process process;
  bool operator==(const Running&) const = default;
};

struct Stopping {
  Process process;
  StopReason reason = StopReason::administrator;
  Instant since;
  Instant kill_at;
  std::optional<MemoryLimit> memory;  // it was stopped for this
  bool operator==(const Stopping&) const = default;
};

struct Killing {
  Process process;
  StopReason reason = StopReason::administrator;
  Instant since;  // of the first SIGKILL
  Instant again_at;
  unsigned repeats = 0;  // more than none: it is stuck
  std::optional<MemoryLimit> memory;
  bool operator==(const Killing&) const = default;
};

struct Clearing {
  int pid = 0;  // of the process that is gone: the name of its group
  Instant since;
  Instant again_at;
  unsigned repeats = 0;
  bool is_stuck = false;
  bool is_at_once = false;  // if it is to run, it is started without a delay
  Exit exit;
  bool operator==(const Clearing&) const = default;
};

using Phase = std::variant<Down, Waiting, Starting, Running, Stopping, Killing, Clearing>;

struct Death {
  Exit exit;
  int pid = 0;  // 0: it never lived
  Instant at;
  Duration ran{};
  bool was_asked = false;  // we stopped it
  bool operator==(const Death&) const = default;
};

struct State {
  Phase phase;
  bool is_configured = false;
  bool kill_on_change = false;         // the newest configuration allows to stop it for a change
  bool is_held = false;                // an administrator stopped it
  std::optional<Instant> shutdown_by;  // the agent stops: SIGKILL at the latest then
  Revision desired;                    // the newest configuration
  Backoff backoff;
  std::uint64_t starts = 0;
  unsigned quick_deaths = 0;  // ends of its own in a row, none after a run of 10 s or more
  std::optional<Death> last_death;

  bool operator==(const State&) const = default;
};

// Not configured, nothing lives.
[[nodiscard]] State initial_state(Instant now);

// ---- events -----------------------------------------------------------------------------------

// The newest configuration holds this process. Sent for the first one and for each that changed
// anything about it; repeating it does no harm. The policy given along is already the new one.
struct Configured {
  Revision revision;
  bool kill_on_change = true;
};

// The newest configuration does not hold it. Without `kill` it runs until it ends by itself.
struct Deconfigured {
  bool kill = true;
};

struct Start {};    // by an administrator; ends a restart delay too
struct Stop {};     // by an administrator
struct Restart {};  // by an administrator

struct Launched {
  int pid = 0;
};

// ExecFailed or SpawnFailed.
struct LaunchFailed {
  Exit exit;
};

struct ProcessExited {
  int pid = 0;  // of a process that is not this one: ignored
  Exit exit;
  bool group_lives = false;
};

struct GroupGone {
  int pid = 0;
};

struct Timer {};

// A process that an earlier agent started and that was verified to be this one.
struct Adopted {
  int pid = 0;
  Instant since;
  Revision revision;
  std::optional<Instant> joined_at;
  std::uint64_t starts = 1;  // as the earlier agent counted
};

struct MemoryExceeded {
  int pid = 0;
  std::uint64_t rss_bytes = 0;
  std::uint64_t limit_bytes = 0;
};

struct Joined {
  int pid = 0;
};

struct Reset {};  // SIGHUP

// The agent stops and takes its processes along. SIGKILL comes at the process's own grace or at
// `kill_by`, whichever is sooner. Sent again with a sooner `kill_by` it shortens.
struct Shutdown {
  Instant kill_by;
};

using Event =
    std::variant<Configured, Deconfigured, Start, Stop, Restart, Launched, LaunchFailed,
                 ProcessExited, GroupGone, Timer, Adopted, MemoryExceeded, Joined, Reset, Shutdown>;

// ---- actions ----------------------------------------------------------------------------------

// Start the process with the newest configuration. Answer with Launched or LaunchFailed.
struct Launch {
  Revision revision;
  bool operator==(const Launch&) const = default;
};

enum class SignalTarget { process, group };

struct SendSignal {
  int signal = 0;
  SignalTarget target = SignalTarget::group;
  int pid = 0;
  bool operator==(const SendSignal&) const = default;
};

struct SetTimer {
  std::optional<Instant> at;  // none: no timer
  bool operator==(const SetTimer&) const = default;
};

struct Note {
  Severity severity = Severity::info;
  std::string text;
  bool operator==(const Note&) const = default;
};

struct Forgotten {
  bool operator==(const Forgotten&) const = default;
};

using Action = std::variant<Launch, SendSignal, SetTimer, Note, Forgotten>;

struct Step {
  State state;
  std::vector<Action> actions;  // to be performed in this order
};

[[nodiscard]] Step step(const State& state, const Event& event, const Policy& policy, Instant now,
                        Random& random);

// ---- reading a state --------------------------------------------------------------------------

// The one moment at which a Timer event is wanted.
[[nodiscard]] std::optional<Instant> deadline(const State& state);

// Something of it lives or may live: a launch is outstanding, or a process or its group is there.
[[nodiscard]] bool is_alive(const State& state);

// When the process that runs has run for too long to die quickly; none: nothing runs.
[[nodiscard]] std::optional<Instant> runs_well_at(const State& state);

// What the process that lives was started with, or will be if none lives: the revision to compare
// a new configuration with (conf_change.hpp).
[[nodiscard]] Revision current_revision(const State& state);

enum class PendingChange { none, settings, command };
[[nodiscard]] std::string_view to_string(PendingChange change);

struct View {
  std::string_view name;  // "down", "waiting", "starting", "running", "stopping", "killing",
                          // "clearing"
  Instant since;          // of the phase; of the process where it runs
  std::optional<int> pid;
  std::uint64_t restarts = 0;
  unsigned quick_deaths = 0;
  std::optional<Death> last_death;
  std::optional<Instant> next_start_at;
  std::optional<Instant> kill_at;
  std::optional<StopReason> stop_reason;
  PendingChange pending = PendingChange::none;  // what runs differs from what is configured
  std::optional<Instant> joined_at;
  bool is_adopted = false;
  bool is_configured = false;
  bool is_held = false;
  bool is_stuck = false;  // SIGKILL did not help within some seconds

  bool operator==(const View&) const = default;
};

[[nodiscard]] View describe(const State& state);

}  // namespace fdbpack::supervise
