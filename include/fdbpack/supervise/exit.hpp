// SPDX-License-Identifier: Apache-2.0
//
// How a process ended: as data, as a sentence, and in fdbmonitor's words for the log.
//
//   Exited         it ended itself with a code; 0 means "start me again" (`fdbcli kill`)
//   Signalled      a signal ended it
//   ExecFailed     the command could not be executed: missing, not executable, no such interpreter
//   SpawnFailed    there was no process to execute it in: EAGAIN, ENOMEM, ...; without an errno
//                  `step` says why, such as a user that nobody knows
//   OomKilled      the kernel ended it because memory ran out
//   MemoryLimit    we ended it because it held more memory than `memory` allows
//   UnknownEnd     it is gone and nobody can say how: an adopted process that is not our child
//
// Only `Exited` with code 0 is a clean end. All others take the restart ladder.
#pragma once

#include "fdbpack/base/instant.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace fdbpack::supervise {

struct Exited {
  int code = 0;
  bool operator==(const Exited&) const = default;
};

struct Signalled {
  int signal = 0;
  bool has_core = false;
  bool operator==(const Signalled&) const = default;
};

struct ExecFailed {
  int error_number = 0;
  bool operator==(const ExecFailed&) const = default;
};

struct SpawnFailed {
  int error_number = 0;
  std::string step = {};  // the call that refused, or all there is to say; empty: fork
  bool operator==(const SpawnFailed&) const = default;
};

struct OomKilled {
  bool operator==(const OomKilled&) const = default;
};

struct MemoryLimit {
  std::uint64_t rss_bytes = 0;
  std::uint64_t limit_bytes = 0;
  bool operator==(const MemoryLimit&) const = default;
};

struct UnknownEnd {
  bool operator==(const UnknownEnd&) const = default;
};

using Exit =
    std::variant<Exited, Signalled, ExecFailed, SpawnFailed, OomKilled, MemoryLimit, UnknownEnd>;

enum class ExitClass { clean, failure };
[[nodiscard]] ExitClass classify(const Exit& exit);

// One word for machines: "exit", "signal", "exec", "spawn", "oom", "memory_limit", "unknown".
[[nodiscard]] std::string_view cause(const Exit& exit);

// One sentence for people, in lower case without a full stop: "ended by signal 9 (SIGKILL)",
// "could not be executed: No such file or directory (errno 2)".
[[nodiscard]] std::string to_string(const Exit& exit);

// "SIGTERM"; "signal 42" for those without a name.
[[nodiscard]] std::string signal_name(int signal);

// fdbmonitor's severities.
enum class Severity { debug = 5, info = 10, warning = 20, warning_always = 30, error = 40 };

struct LogLine {
  Severity severity = Severity::info;
  std::string text;
  bool operator==(const LogLine&) const = default;
};

// "Process 71 terminated by signal 9, restarting in 2 seconds": what fdbmonitor says at a death,
// and in the same form what it has no words for. Without a delay nothing is said about a restart.
// `command` and `section` are named where a process could not be started at all.
[[nodiscard]] LogLine death_line(const Exit& exit, int pid, std::optional<Duration> delay,
                                 std::string_view command, std::string_view section);

}  // namespace fdbpack::supervise
