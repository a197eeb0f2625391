// SPDX-License-Identifier: Apache-2.0
//
// A whole agent inside the test: real processes, files and signals, one thread. Dropping the agent
// without stopping it is what a crash looks like to its processes.
#pragma once

#include "adapters/posix/accounts.hpp"
#include "adapters/posix/cgroups.hpp"
#include "adapters/posix/conf_watch.hpp"
#include "adapters/posix/disk_gauge.hpp"
#include "adapters/posix/files.hpp"
#include "adapters/posix/holders.hpp"
#include "adapters/posix/launcher.hpp"
#include "adapters/posix/output_pump.hpp"
#include "adapters/posix/port_probe.hpp"
#include "adapters/posix/process_table.hpp"
#include "agent/agent.hpp"
#include "tests/adapters/posix/support.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fdbpack::agent {

class RecordedLog final : public ports::Log {
 public:
  void write(supervise::Severity severity, std::string_view process,
             std::string_view text) override {
    lines.push_back(std::to_string(static_cast<int>(severity)) + " " + std::string(process) + ": " +
                    std::string(text));
  }
  void flush() override {}
  [[nodiscard]] std::uint64_t dropped() const override { return 0; }

  std::vector<std::string> lines;
};

class SilentNotifier final : public ports::Notifier {
 public:
  void ready(std::string_view) override {}
  void reloading(Instant) override {}
  void stopping() override {}
  void status(std::string_view) override {}
  void extend_timeout(Duration) override {}
  void watchdog() override {}
  [[nodiscard]] std::optional<Duration> watchdog_interval() const override { return {}; }
  void store(std::string_view, int) override {}
  void unstore(std::string_view) override {}
};

class WithAgent : public testing::Test {
 protected:
  // One agent and what it stands on.
  struct Instance {
    explicit Instance(WithAgent& test);
    boost::asio::io_context io{1};
    posix::SteadyClock clock{io};
    posix::PosixLauncher launcher{io, clock};
    std::unique_ptr<posix::MemoryOutputPump> output;
    posix::PosixFiles files;
    posix::PosixAccounts accounts;
    posix::ProcTable processes;
    posix::ConnectProbe probe{io, clock};
    posix::DelegatedCgroups no_cgroups{"off"};
    SilentNotifier notifier;
    posix::ProcHolders holders;
    posix::ForkedDiskGauge disks{io, clock, launcher};
    std::unique_ptr<World> world;
    std::unique_ptr<Agent> agent;
    std::unique_ptr<posix::ConfWatch> watch;
    std::optional<int> exit_code;
  };

  WithAgent() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }
  ~WithAgent() override;

  void write_conf(const std::string& processes) {
    (void)dir_.write("f.conf.new", "[general]\nrestart-delay = 60\n" + processes);
    std::filesystem::rename(dir_.path("f.conf.new"), dir_.path("f.conf"));
  }
  // A script that can be named as a command, which cannot hold quotes.
  std::string script(const std::string& name, const std::string& text) {
    const auto path = dir_.write(name, "#!/bin/sh\n" + text + "\n");
    ::chmod(path.c_str(), 0755);
    return path;
  }
  std::string sleeper() { return script("sleeper", "exec sleep 600"); }

  void start();
  void crash() { instance_.reset(); }
  // With all its processes.
  void end();
  [[nodiscard]] bool wait(const std::function<bool()>& is_true) {
    return test::run_until(instance_->io, [&] {
      instance_->agent->on_signal(SIGCHLD);
      return is_true();
    });
  }

  const Supervised* process(const std::string& section) {
    const auto& all = instance_->agent->supervisor().processes();
    const auto found = all.find(section);
    return found == all.end() ? nullptr : found->second.get();
  }
  std::string phase(const std::string& section) {
    const auto* who = process(section);
    return who == nullptr ? "none" : std::string(supervise::describe(who->state).name);
  }
  int pid(const std::string& section) {
    const auto* who = process(section);
    return who == nullptr ? 0 : supervise::describe(who->state).pid.value_or(0);
  }
  [[nodiscard]] bool wait_running(const std::string& section) {
    return wait([&] { return phase(section) == "running"; });
  }
  // The status file, once it fulfils `is_wanted`.
  nlohmann::json status(const std::function<bool(const nlohmann::json&)>& is_wanted) {
    nlohmann::json page;
    EXPECT_TRUE(wait([&] {
      page = nlohmann::json::parse(test::read_file(dir_.path("state/status.json")), nullptr, false);
      return page.is_object() && is_wanted(page);
    })) << page;
    return page;
  }
  [[nodiscard]] bool is_logged(const std::string& text) const {
    for (const auto& line : log_.lines) {
      if (line.find(text) != std::string::npos) return true;
    }
    return false;
  }

  test::TempDir dir_;
  RecordedLog log_;
  Duration grace_ = std::chrono::seconds(10);
  Duration look_every_ = std::chrono::seconds(10);
  ports::Cgroups* cgroups_ = nullptr;  // of the agents started from now on; nullptr: none
  ports::DiskGauge* disks_ = nullptr;  // instead of the real one
  std::unique_ptr<Instance> instance_;
};

}  // namespace fdbpack::agent
