// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/supervise/exit.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>

namespace fdbpack::supervise {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Case {
  Exit exit;
  ExitClass end;
  std::string_view cause;
  std::string sentence;
  LogLine line;  // of pid 71, restarting in 2 s
};

const std::string kUnable = "Unable to launch /bin/x for fdbserver.1 ";

const Case kCases[] = {
    {Exited{0},
     ExitClass::clean,
     "exit",
     "exited with code 0",
     {Severity::warning, "Process 71 exited 0, restarting in 2 seconds"}},
    {Exited{3},
     ExitClass::failure,
     "exit",
     "exited with code 3",
     {Severity::error, "Process 71 exited 3, restarting in 2 seconds"}},
    {Signalled{SIGKILL, false},
     ExitClass::failure,
     "signal",
     "ended by signal 9 (SIGKILL)",
     {Severity::warning, "Process 71 terminated by signal 9, restarting in 2 seconds"}},
    {Signalled{SIGSEGV, true},
     ExitClass::failure,
     "signal",
     "ended by signal 11 (SIGSEGV), core dumped",
     {Severity::warning,
      "Process 71 terminated by signal 11 with a core dump, restarting in 2 seconds"}},
    {Signalled{64, false},
     ExitClass::failure,
     "signal",
     "ended by signal 64",
     {Severity::warning, "Process 71 terminated by signal 64, restarting in 2 seconds"}},
    {ExecFailed{ENOENT},
     ExitClass::failure,
     "exec",
     "could not be executed: No such file or directory (errno 2)",
     {Severity::error,
      kUnable + "(execv error 2: No such file or directory), restarting in 2 seconds"}},
    {SpawnFailed{EAGAIN},
     ExitClass::failure,
     "spawn",
     "could not be started: Resource temporarily unavailable (errno 11)",
     {Severity::error,
      kUnable + "(fork error 11: Resource temporarily unavailable), restarting in 2 seconds"}},
    {SpawnFailed{EPERM, "prlimit"},
     ExitClass::failure,
     "spawn",
     "could not be started: prlimit: Operation not permitted (errno 1)",
     {Severity::error,
      kUnable + "(prlimit error 1: Operation not permitted), restarting in 2 seconds"}},
    {SpawnFailed{0, "there is no user x"},
     ExitClass::failure,
     "spawn",
     "could not be started: there is no user x",
     {Severity::error, kUnable + "(there is no user x), restarting in 2 seconds"}},
    {OomKilled{},
     ExitClass::failure,
     "oom",
     "killed by the kernel because memory ran out",
     {Severity::error,
      "Process 71 killed by the kernel because memory ran out, restarting in 2 seconds"}},
    {MemoryLimit{900, 800},
     ExitClass::failure,
     "memory_limit",
     "stopped for exceeding its memory limit (bytes resident: current 900, limit 800)",
     {Severity::warning,
      "Process 71 ended for exceeding resident memory limit, current 900, limit 800, restarting "
      "in 2 seconds"}},
    {UnknownEnd{},
     ExitClass::failure,
     "unknown",
     "ended, nobody can say how",
     {Severity::warning_always, "Process 71 exited for unknown reason, restarting in 2 seconds"}},
};

TEST(Exit, IsAClassACauseASentenceAndALine) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.sentence);
    EXPECT_EQ(classify(c.exit), c.end);
    EXPECT_EQ(cause(c.exit), c.cause);
    EXPECT_EQ(to_string(c.exit), c.sentence);
    const LogLine line = death_line(c.exit, 71, seconds(2), "/bin/x", "fdbserver.1");
    EXPECT_EQ(line.text, c.line.text);
    EXPECT_EQ(line.severity, c.line.severity);
  }
}

TEST(Exit, SaysNothingAboutARestartThatDoesNotCome) {
  EXPECT_EQ(death_line(Exited{1}, 5, std::nullopt, "", "").text, "Process 5 exited 1");
}

TEST(Exit, RoundsTheDelayUp) {
  EXPECT_EQ(death_line(Exited{0}, 5, milliseconds(990), "", "").text,
            "Process 5 exited 0, restarting in 1 seconds");
  EXPECT_EQ(death_line(Exited{0}, 5, Duration::zero(), "", "").text,
            "Process 5 exited 0, restarting in 0 seconds");
}

}  // namespace
}  // namespace fdbpack::supervise
