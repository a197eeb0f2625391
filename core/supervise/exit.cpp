// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/supervise/exit.hpp"

#include "fdbpack/base/overloaded.hpp"

#include <array>
#include <csignal>
#include <system_error>
#include <utility>

namespace fdbpack::supervise {
namespace {

struct SignalName {
  int number;
  std::string_view name;
};

constexpr std::array kSignalNames = {
    SignalName{SIGHUP, "SIGHUP"},   SignalName{SIGINT, "SIGINT"},   SignalName{SIGQUIT, "SIGQUIT"},
    SignalName{SIGILL, "SIGILL"},   SignalName{SIGTRAP, "SIGTRAP"}, SignalName{SIGABRT, "SIGABRT"},
    SignalName{SIGBUS, "SIGBUS"},   SignalName{SIGFPE, "SIGFPE"},   SignalName{SIGKILL, "SIGKILL"},
    SignalName{SIGUSR1, "SIGUSR1"}, SignalName{SIGSEGV, "SIGSEGV"}, SignalName{SIGUSR2, "SIGUSR2"},
    SignalName{SIGPIPE, "SIGPIPE"}, SignalName{SIGALRM, "SIGALRM"}, SignalName{SIGTERM, "SIGTERM"},
    SignalName{SIGCONT, "SIGCONT"}, SignalName{SIGSTOP, "SIGSTOP"}, SignalName{SIGXCPU, "SIGXCPU"},
    SignalName{SIGXFSZ, "SIGXFSZ"}, SignalName{SIGSYS, "SIGSYS"},
};

std::string error_text(int error_number) {
  return std::generic_category().message(error_number);
}

std::string errno_sentence(std::string_view what, int error_number) {
  return std::string(what) + ": " + error_text(error_number) + " (errno " +
         std::to_string(error_number) + ")";
}

std::string memory_words(const MemoryLimit& end) {
  return "current " + std::to_string(end.rss_bytes) + ", limit " + std::to_string(end.limit_bytes);
}

}  // namespace

ExitClass classify(const Exit& exit) {
  const auto* exited = std::get_if<Exited>(&exit);
  return exited != nullptr && exited->code == 0 ? ExitClass::clean : ExitClass::failure;
}

std::string_view cause(const Exit& exit) {
  return std::visit(Overloaded{[](const Exited&) { return std::string_view("exit"); },
                               [](const Signalled&) { return std::string_view("signal"); },
                               [](const ExecFailed&) { return std::string_view("exec"); },
                               [](const SpawnFailed&) { return std::string_view("spawn"); },
                               [](const OomKilled&) { return std::string_view("oom"); },
                               [](const MemoryLimit&) { return std::string_view("memory_limit"); },
                               [](const UnknownEnd&) { return std::string_view("unknown"); }},
                    exit);
}

std::string signal_name(int signal) {
  for (const SignalName& known : kSignalNames) {
    if (known.number == signal) return std::string(known.name);
  }
  return "signal " + std::to_string(signal);
}

std::string to_string(const Exit& exit) {
  return std::visit(
      Overloaded{[](const Exited& end) { return "exited with code " + std::to_string(end.code); },
                 [](const Signalled& end) {
                   std::string text = "ended by signal " + std::to_string(end.signal);
                   const std::string name = signal_name(end.signal);
                   if (name.starts_with("SIG")) text += " (" + name + ")";
                   if (end.has_core) text += ", core dumped";
                   return text;
                 },
                 [](const ExecFailed& end) {
                   return errno_sentence("could not be executed", end.error_number);
                 },
                 [](const SpawnFailed& end) {
                   if (end.error_number == 0) return "could not be started: " + end.step;
                   return errno_sentence(end.step.empty() ? "could not be started"
                                                          : "could not be started: " + end.step,
                                         end.error_number);
                 },
                 [](const OomKilled&) {
                   return std::string("killed by the kernel because memory ran out");
                 },
                 [](const MemoryLimit& end) {
                   return "stopped for exceeding its memory limit (bytes resident: " +
                          memory_words(end) + ")";
                 },
                 [](const UnknownEnd&) { return std::string("ended, nobody can say how"); }},
      exit);
}

LogLine death_line(const Exit& exit, int pid, std::optional<Duration> delay,
                   std::string_view command, std::string_view section) {
  const std::string process = "Process " + std::to_string(pid);
  std::string after;
  if (delay) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(*delay).count();
    after = ", restarting in " + std::to_string(seconds) + " seconds";
  }
  const auto unable = [&](std::string_view call, int error_number) {
    std::string why(call);
    if (error_number != 0) {
      why += " error " + std::to_string(error_number) + ": " + error_text(error_number);
    }
    return LogLine{Severity::error, "Unable to launch " + std::string(command) + " for " +
                                        std::string(section) + " (" + why + ")" + after};
  };
  return std::visit(
      Overloaded{[&](const Exited& end) {
                   return LogLine{end.code == 0 ? Severity::warning : Severity::error,
                                  process + " exited " + std::to_string(end.code) + after};
                 },
                 [&](const Signalled& end) {
                   return LogLine{Severity::warning,
                                  process + " terminated by signal " + std::to_string(end.signal) +
                                      (end.has_core ? " with a core dump" : "") + after};
                 },
                 [&](const ExecFailed& end) { return unable("execv", end.error_number); },
                 [&](const SpawnFailed& end) {
                   return unable(end.step.empty() ? "fork" : end.step, end.error_number);
                 },
                 [&](const OomKilled&) {
                   return LogLine{Severity::error,
                                  process + " killed by the kernel because memory ran out" + after};
                 },
                 [&](const MemoryLimit& end) {
                   return LogLine{Severity::warning,
                                  process + " ended for exceeding resident memory limit, " +
                                      memory_words(end) + after};
                 },
                 [&](const UnknownEnd&) {
                   return LogLine{Severity::warning_always,
                                  process + " exited for unknown reason" + after};
                 }},
      exit);
}

}  // namespace fdbpack::supervise
