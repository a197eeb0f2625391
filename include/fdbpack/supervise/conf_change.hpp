// SPDX-License-Identifier: Apache-2.0
//
// What a new conf means for the processes: first whether it may replace the one in force at all,
// then, section by section, what happens.
//
// The last good conf stays in force, and no process is touched, when the new one
//
//   invalid     has an error: one that fdbmonitor reports, or swallows
//   empty       holds no process, while the last good one did or processes live
//   truncated   is the beginning of the last good one, byte by byte, and
//                 - is cut anywhere but before a section header; or
//                 - has a process less, unless an administrator asked for the reload (SIGHUP)
//   half        is cut in its last line: the file has no newline at its end, and
//   written       - this line is neither header, comment nor `key = value`; or
//                 - it is the beginning of a longer line of the last good conf, which ended in a
//                   newline or had a process that is missing now; or
//                 - the last good conf ended in a newline and had a process that is missing now
//
// A missing newline at the end is no fault in itself: the FoundationDB operator writes none. A conf
// that lost its last sections whole looks the same whether they were removed on purpose or the disk
// was full; so somebody has to say that it is complete, by SIGHUP or by any line that was not there
// before, such as a comment. Writers that are still at it are the watcher's matter, which waits for
// them.
//
// Removing all processes on purpose: the last line of the file that is not blank is
//
//   # fdbpack: no processes
//
// fdbmonitor takes it for a comment, and no truncation of another file can produce it.
//
// The first conf has no last good one to fall back to. It is accepted unless it is empty while
// processes live, its faulty sections are not started, and nothing that runs under their name is
// touched. So whoever keeps the last good conf over a restart of the agent has the full guard.
#pragma once

#include "fdbpack/conf/monitor_conf.hpp"
#include "fdbpack/supervise/machine.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fdbpack::supervise {

inline constexpr std::string_view kNoProcessesMarker = "# fdbpack: no processes";

struct ConfView {
  std::string_view text;
  const conf::MonitorConf& conf;
};

enum class LoadCause {
  found,  // the file has changed, or is just there
  asked,  // somebody who can be held to it wants it read
};

// Why `candidate` must not replace `last_good` (nullptr: there is none yet), with line and reason;
// nothing: it may. `diagnostics` are those of conf::check() and whatever else was found wrong with
// it, such as an unknown user; warnings among them do not matter. `live` is how many processes
// live, adopted ones included.
[[nodiscard]] std::vector<conf::Diagnostic> refusal_reasons(
    const ConfView& candidate, std::span<const conf::Diagnostic> diagnostics,
    const ConfView* last_good, std::size_t live, LoadCause cause = LoadCause::found);

// The command must have been resolved with "$PID" left as it is: the agent's pid is not part of
// what a process is, and adopted processes were given that of another agent.
[[nodiscard]] Revision revision_of(const conf::ProcessCommand& command, std::string_view user,
                                   std::string_view group);

// What the machine of a process needs to know of its section. `stop_grace` is that of processes
// without one of their own.
[[nodiscard]] Policy policy_of(const conf::ProcessCommand& command, Duration stop_grace);

// One section as it is supervised now.
struct Supervised {
  std::string section;
  Revision revision;  // of the live process; when none lives, of the conf in force
  std::optional<conf::ProcessCommand> command;  // of the conf in force; none: only adopted so far
  bool kill_on_change = true;                   // of the conf in force, or as it was recorded
  bool is_alive = false;
};

enum class ChangeKind {
  start,               // new: Configured
  unchanged,           // nothing to do
  settings,            // Configured; restart keys count at once, the environment at the next start
  changed_kill,        // Configured: stopped and started anew, or started at once from a delay
  changed_pending,     // Configured: takes effect at its next start, and can be seen until then
  deconfigured_kill,   // Deconfigured
  deconfigured_leave,  // Deconfigured: runs until it ends by itself
  refused,             // the section is faulty: what runs under its name is left alone
};
[[nodiscard]] std::string_view to_string(ChangeKind kind);

struct Change {
  std::string section;
  ChangeKind kind = ChangeKind::unchanged;
  const conf::ProcessCommand* command = nullptr;  // in the new conf; nullptr: not in it

  bool operator==(const Change&) const = default;
};

// One Change for every section that is supervised, in the new conf or refused in it, by name.
// Names compare without regard to ASCII case, as fdbmonitor's do.
//
// A command line is compared with that of the live process, not with the conf before: a change
// that was pending is carried out as soon as kill_on_configuration_change allows, and one that was
// taken back before it took effect costs nothing. A new user or group counts as a new command line
// of every process.
[[nodiscard]] std::vector<Change> plan_changes(std::span<const Supervised> supervised,
                                               const conf::MonitorConf& conf);

}  // namespace fdbpack::supervise
