// SPDX-License-Identifier: Apache-2.0
//
// A world without a system for the agent: time stands still until a test moves it, files are in
// memory, and processes are numbers that end when they are told to.
#pragma once

#include "agent/world.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <map>
#include <vector>

namespace fdbpack::fuzz {

class FakeClock final : public ports::Clock {
 public:
  [[nodiscard]] Instant now() const override { return now_; }
  [[nodiscard]] WallTime wall() const override {
    return WallTime(std::chrono::duration_cast<std::chrono::milliseconds>(now_.time_since_epoch()));
  }
  [[nodiscard]] std::unique_ptr<ports::Alarm> make_alarm(std::function<void()> on_time) override {
    return std::make_unique<FakeAlarm>(*this, std::move(on_time));
  }
  // Runs what is due within `span`, in its order.
  void advance(Duration span) {
    const Instant end = now_ + span;
    for (int bound = 0; bound < 10'000; ++bound) {
      FakeAlarm* next = nullptr;
      for (FakeAlarm* alarm : alarms_) {
        if (alarm->at && *alarm->at <= end && (next == nullptr || *alarm->at < *next->at)) {
          next = alarm;
        }
      }
      if (next == nullptr) break;
      now_ = std::max(now_, *std::exchange(next->at, std::nullopt));
      const auto call = next->on_time;  // the alarm may go with it
      call();
    }
    now_ = end;
  }

 private:
  struct FakeAlarm final : ports::Alarm {
    FakeAlarm(FakeClock& whose, std::function<void()> call)
        : clock(whose), on_time(std::move(call)) {
      clock.alarms_.push_back(this);
    }
    ~FakeAlarm() override { std::erase(clock.alarms_, this); }
    void set(Instant when) override { at = when; }
    void clear() override { at.reset(); }
    FakeClock& clock;
    std::function<void()> on_time;
    std::optional<Instant> at;
  };

  Instant now_{std::chrono::hours(1)};
  std::vector<FakeAlarm*> alarms_;
};

class FakeLauncher final : public ports::Launcher {
 public:
  explicit FakeLauncher(FakeClock& clock) : clock_(clock) {}
  [[nodiscard]] Outcome launch(const ports::LaunchPlan&, ports::OnExit on_exit) override {
    return std::make_unique<FakeChild>(clock_, ++last_pid_, std::move(on_exit));
  }
  [[nodiscard]] std::unique_ptr<ports::Child> adopt(int pid, int, ports::OnExit on_exit) override {
    return std::make_unique<FakeChild>(clock_, pid, std::move(on_exit));
  }
  std::size_t reap_strangers() override { return 0; }

 private:
  class FakeChild final : public ports::Child {
   public:
    FakeChild(FakeClock& clock, int pid, ports::OnExit on_exit)
        : clock_(clock), pid_(pid), end_(clock.make_alarm([on_exit = std::move(on_exit)] {
            on_exit(supervise::Signalled{SIGTERM, false}, false);
          })) {}
    [[nodiscard]] int pid() const override { return pid_; }
    [[nodiscard]] int pidfd() const override { return -1; }
    int signal_process(int signal) override {
      if (signal == SIGTERM || signal == SIGKILL) end_->set(clock_.now());
      return 0;
    }
    int signal_group(int signal) override { return signal_process(signal); }

   private:
    FakeClock& clock_;
    int pid_;
    std::unique_ptr<ports::Alarm> end_;
  };

  FakeClock& clock_;
  int last_pid_ = 100;
};

class FakeFiles final : public ports::Files {
 public:
  [[nodiscard]] Result<std::string> read(const std::string& path, std::size_t) override {
    const auto found = texts.find(path);
    if (found == texts.end()) return fail(ErrorCode::not_found, path + " is not there");
    return found->second;
  }
  [[nodiscard]] Status replace(const std::string& path, std::string_view text, unsigned) override {
    texts[path] = text;
    return {};
  }
  [[nodiscard]] Status make_directories(const std::string&, unsigned) override { return {}; }
  [[nodiscard]] std::string network_file_system(const std::string&) override { return ""; }

  std::map<std::string, std::string> texts;
};

// The rest of the world, in which nothing happens.
struct FakeOutput final : ports::OutputPump {
  Result<ports::OutputId> open(std::string_view) override { return ++last; }
  Result<ports::OutputId> adopt(std::string_view, int) override { return ++last; }
  Result<ports::OutputId> take(std::string_view, ports::OutputFds) override { return ++last; }
  ports::OutputFds fds(ports::OutputId) const override { return {}; }
  void end_of_process(ports::OutputId) override {}
  void drain(ports::OutputId) override {}
  void close(ports::OutputId) override {}
  ports::OutputCounters counters(ports::OutputId) const override { return {}; }
  bool is_degraded() const override { return false; }
  ports::OutputId last = 0;
};
struct FakeLog final : ports::Log {
  void write(supervise::Severity, std::string_view, std::string_view text) override {
    if (text.find('\n') != text.npos) std::abort();  // one event is one line
  }
  void flush() override {}
  std::uint64_t dropped() const override { return 0; }
};
struct FakeAccounts final : ports::Accounts {
  Result<ports::Identity> look_up(const std::string&, const std::string&) override {
    return ports::Identity{};
  }
};
struct FakeGauge final : ports::MemoryGauge {
  std::optional<std::uint64_t> resident_bytes() override { return 1u << 20; }
};
struct FakeProcesses final : ports::ProcessTable {
  std::string boot_id() const override { return "boot"; }
  std::optional<ports::ProcessStamp> stamp(int) const override { return ports::ProcessStamp{}; }
  bool is_program_replaced(int) const override { return false; }
  bool is_stopped(int) const override { return false; }
  ports::Findings find(ports::Search) override { return {}; }
  std::unique_ptr<ports::MemoryGauge> gauge(int) const override {
    return std::make_unique<FakeGauge>();
  }
  std::size_t kill_escaped(const std::string&, const std::vector<int>&) override { return 0; }
};
struct FakeProbe final : ports::PortProbe {
  void wait_for_listener(std::string, std::uint16_t, Duration, std::function<void(bool)>) override {
  }
};
struct FakeCgroups final : ports::Cgroups {
  std::string prepare(const std::string&) override { return ""; }
  std::string find(const std::string&, int) override { return ""; }
  std::optional<std::uint64_t> oom_kills(const std::string&) override { return {}; }
  void remove(const std::string&) override {}
  std::string degraded() const override { return ""; }
};
struct FakeNotifier final : ports::Notifier {
  void ready(std::string_view) override {}
  void reloading(Instant) override {}
  void stopping() override {}
  void status(std::string_view) override {}
  void extend_timeout(Duration) override {}
  void watchdog() override {}
  std::optional<Duration> watchdog_interval() const override { return {}; }
  void store(std::string_view, int) override {}
  void unstore(std::string_view) override {}
};
struct FakeHolders final : ports::Holders {
  struct Nobody final : ports::HolderSearch {
    bool advance() override { return true; }
    const std::optional<ports::Held>& result() const override { return none; }
    std::optional<ports::Held> none;
  };
  std::unique_ptr<ports::HolderSearch> search(ports::Wanted) const override {
    return std::make_unique<Nobody>();
  }
};
struct FakeDisks final : ports::DiskGauge {
  bool read(std::vector<ports::DiskRequest>,
            std::function<void(std::vector<ports::DiskReading>)>) override {
    return true;
  }
};

struct FakeWorld {
  FakeClock clock;
  FakeLauncher launcher{clock};
  FakeOutput output;
  FakeLog log;
  FakeFiles files;
  FakeAccounts accounts;
  FakeProcesses processes;
  FakeProbe probe;
  FakeCgroups cgroups;
  FakeNotifier notifier;
  FakeHolders holders;
  FakeDisks disks;
  agent::World all{clock,     launcher, output,  log,      files,   accounts,
                   processes, probe,    cgroups, notifier, holders, disks};
};

}  // namespace fdbpack::fuzz
