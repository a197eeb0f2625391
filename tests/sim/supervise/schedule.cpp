// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/supervise/schedule.hpp"

#include "tests/sim/supervise/sim_agent.hpp"

#include <algorithm>
#include <memory>

namespace fdbpack::supervise::sim {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

// After the last fault all is as it should be within this time: state D (30 s), the grace (10 s),
// a slow death (15 s), and the longest restart delay (66 s) twice.
constexpr Duration kConvergence = seconds(200);
constexpr int kEventsMax = 20'000;

class Schedule {
 public:
  Schedule(std::uint64_t seed, ConfCache& cache) : random_(seed), cache_(cache), table_(random_) {
    for (SectionSpec& section : spec_.sections) {
      section.is_present = random_.chance(0.8);
      section.kill_on_change = random_.chance(0.6);
      section.policy = static_cast<int>(random_.below(4));
    }
    file_ = print(spec_);
  }

  Outcome run() {
    start_agent();
    const auto faults = random_.between(8, 50);
    for (std::int64_t i = 0; i < faults && is_well(); ++i) {
      pass_time();
      inject();
    }
    if (is_well()) settle();
    if (is_well() && random_.chance(0.3)) shut_down();
    Outcome outcome;
    outcome.steps = steps_ + (agent_ ? agent_->steps() : 0);
    outcome.failure = failure_;
    if (agent_ && failure_.empty()) outcome.failure = agent_->failure();
    if (!outcome.failure.empty()) outcome.trace = trace_.show();
    return outcome;
  }

 private:
  bool is_well() const { return failure_.empty() && (!agent_ || agent_->failure().empty()); }
  void fail(const std::string& what) {
    if (failure_.empty()) failure_ = what;
  }

  void start_agent() {
    agent_ = std::make_unique<SimAgent>(table_, cache_, disk_, launch_faults_, random_, trace_);
    agent_->begin(file_, now_);
    restart_at_ = kNever;
  }

  void kill_agent() {
    if (!agent_) return;
    trace_.add(now_, 9, "agent killed");
    if (!agent_->failure().empty()) fail(agent_->failure());
    steps_ += agent_->steps();
    agent_.reset();
    for (SimProcess& process : table_.all()) {
      process.is_watched = false;
      if (!process.is_alive && !process.is_reaped) table_.reap(process);
    }
    if (random_.chance(0.3)) disk_ = StateFile{};
    restart_at_ = now_ + milliseconds(random_.chance(0.5) ? 0 : random_.between(1, 5000));
  }

  // Lets happen what is due until `end`, each at its time.
  void run_until(Instant end) {
    for (int i = 0; i < kEventsMax && is_well(); ++i) {
      const Instant next = next_event();
      if (next > end) {
        now_ = end;
        return;
      }
      now_ = std::max(now_, next);
      happen();
    }
    if (is_well()) fail("too many events: a hot loop");
  }

  Instant next_event() const {
    return std::min({table_.next_death(), restart_at_, agent_ ? agent_->next_event() : kNever});
  }

  void happen() {
    table_.advance(now_);
    for (SimProcess& process : table_.all()) {
      // Without an agent somebody else reaps.
      if (!agent_ && !process.is_alive && !process.is_reaped) table_.reap(process);
    }
    if (restart_at_ <= now_) start_agent();
    if (agent_) agent_->advance(now_);
  }

  void pass_time() {
    Duration gap{};
    switch (random_.below(8)) {
      case 0:
        return;
      case 1:
        gap = milliseconds(random_.between(1, 10));
        break;
      case 2:
      case 3:
        gap = milliseconds(random_.between(10, 2000));
        break;
      case 4:
      case 5:
        gap = seconds(random_.between(1, 20));
        break;
      case 6:
        gap = seconds(random_.between(20, 200));
        break;
      default:
        // The machine was suspended or the agent did not get to run: all timers are late.
        now_ += random_.chance(0.1) ? Duration(hours(24 * 365)) : seconds(random_.between(1, 90));
        happen();
        return;
    }
    run_until(now_ + gap);
  }

  SimProcess* some_process() {
    std::vector<SimProcess>& all = table_.all();
    if (all.empty()) return nullptr;
    SimProcess& process = all[random_.below(all.size())];
    return process.is_alive ? &process : nullptr;
  }

  void inject() {
    const std::uint64_t fault = random_.below(16);
    trace_.add(now_, 9, "fault", static_cast<std::int64_t>(fault));
    if (fault < 5) return hurt_process(fault);
    if (fault < 8) return change_conf(fault);
    if (fault < 12) return command_agent(fault);
    if (fault < 14) return spoil_launches();
    if (fault == 14) return kill_agent();
    table_.shuffle_strangers();
  }

  Exit some_end() {
    switch (random_.below(4)) {
      case 0:
        return OomKilled{};
      case 1:
        return Exited{1};
      default:
        return Exited{0};
    }
  }

  void hurt_process(std::uint64_t fault) {
    SimProcess* process = some_process();
    if (process == nullptr) return;
    switch (fault) {
      case 0:
        table_.signal(*process, SIGKILL, now_);
        break;
      case 1:
        table_.exit_at(*process, now_, some_end());
        break;
      case 2:
        process->ignores_term = true;
        break;
      case 3:
        process->is_stopped = true;
        break;
      default:
        process->unkillable_until = now_ + seconds(random_.between(1, 30));
        if (process->dies_at != kNever) {
          process->dies_at = std::max(process->dies_at, process->unkillable_until);
        }
        break;
    }
  }

  void write_conf(std::string text) {
    file_ = std::move(text);
    if (agent_) agent_->read_conf(file_, now_);
  }

  void change_conf(std::uint64_t fault) {
    if (fault < 7) {
      edit(spec_, random_);
      return write_conf(print(spec_));
    }
    switch (random_.below(4)) {
      case 0:
        return write_conf("");
      case 1:
        return truncate_conf();
      case 2: {
        ConfSpec broken = spec_;
        broken.sections[random_.below(kIds)].is_broken = true;
        return write_conf(print(broken));
      }
      default:  // removed: the agent finds nothing to read
        return;
    }
  }

  void truncate_conf() {
    const std::string whole = print(spec_);
    const std::string cut = whole.substr(0, random_.below(whole.size()));
    const bool was_whole = agent_ && disk_.last_good != nullptr && disk_.last_good->text == whole &&
                           !disk_.last_good->conf.processes.empty();
    const bool is_lossless = cut.size() + 1 == whole.size();
    write_conf(cut);
    if (was_whole && !is_lossless && disk_.last_good->text != whole) {
      fail("a truncated conf was accepted: " + cut);
    }
  }

  void command_agent(std::uint64_t fault) {
    if (!agent_) return;
    const int id = static_cast<int>(random_.below(kIds));
    const State* state = agent_->state(id);
    const std::optional<int> pid = state != nullptr ? describe(*state).pid : std::nullopt;
    switch (fault) {
      case 8: {
        const std::array<Event, 3> orders = {Start{}, Stop{}, Restart{}};
        return agent_->command(id, orders[random_.below(3)], now_);
      }
      case 9:
        for (std::int64_t i = random_.between(1, 5); i > 0; --i)
          agent_->hang_up(file_, now_);
        return;
      case 10:
        if (pid) agent_->command(id, MemoryExceeded{*pid, 9000, 8000}, now_);
        return;
      default:
        // What comes late, early or twice.
        agent_->command(id, Joined{pid.value_or(1)}, now_);
        agent_->command(id, Timer{}, now_);
        agent_->command(id, ProcessExited{1, Exited{0}, false}, now_);
        agent_->command(id, GroupGone{1}, now_);
        return;
    }
  }

  void spoil_launches() {
    launch_faults_.failing = static_cast<int>(random_.below(4));
    launch_faults_.quick_exits = static_cast<int>(random_.below(16));
    launch_faults_.quick_exit_code = random_.chance(0.6) ? 0 : 1;
    launch_faults_.ignore_term = random_.chance(0.3);
    launch_faults_.leave_group = random_.chance(0.3);
  }

  // The faults are over: everything must become as it should be, and then be still.
  void settle() {
    trace_.add(now_, 9, "peace");
    launch_faults_ = LaunchFaults{};
    if (!agent_) start_agent();
    spec_.version = 99;
    write_conf(print(spec_));
    if (disk_.last_good == nullptr || disk_.last_good->text != file_) {
      const bool has_process = std::any_of(spec_.sections.begin(), spec_.sections.end(),
                                           [](const SectionSpec& one) { return one.is_present; });
      if (has_process) fail("the repaired conf was refused: " + file_);
      write_conf(print(spec_) + "# fdbpack: no processes\n");
    }
    const Instant bound = now_ + kConvergence;
    run_until(bound);
    if (!is_well()) return;
    if (next_event() != kNever) return fail("something is still going on after the bound");
    for (int id = 0; id < kIds; ++id)
      check_settled(id);
  }

  void check_settled(int id) {
    const SectionSpec& wanted = spec_.sections[static_cast<std::size_t>(id)];
    const State* state = agent_->state(id);
    const std::string who = section_name(id) + " ";
    if (!wanted.is_present) {
      if (state == nullptr) {
        if (table_.count_living(id) != 0) fail(who + "is not wanted, unknown, and lives");
        return;
      }
      const View view = describe(*state);
      if (view.name != "running" || view.is_configured) {
        fail(who + "is not wanted and is " + std::string(view.name));
      }
      return;
    }
    if (state == nullptr) return fail(who + "is wanted and unknown");
    const View view = describe(*state);
    const std::string_view expected = view.is_held ? "down" : "running";
    if (view.name != expected) fail(who + "is wanted and is " + std::string(view.name));
    if (view.pending == PendingChange::command && wanted.kill_on_change) {
      fail(who + "runs with an old command line");
    }
    if (table_.count_living(id) != (view.is_held ? 0 : 1)) fail(who + "does not run exactly once");
  }

  void shut_down() {
    trace_.add(now_, 9, "shutdown");
    agent_->shut_down(now_ + seconds(30), now_);
    run_until(now_ + milliseconds(random_.between(0, 3000)));
    agent_->shut_down(now_ + seconds(2), now_);
    // Nothing is in state D any more, so the deadline is kept to what reaping takes.
    run_until(now_ + milliseconds(2500));
    if (!is_well()) return;
    if (agent_->live() != 0) return fail("something lives after the shutdown");
    if (next_event() != kNever) fail("a timer is left after the shutdown");
  }

  Random random_;
  ConfCache& cache_;
  ProcessTable table_;
  StateFile disk_;
  LaunchFaults launch_faults_;
  Trace trace_;
  ConfSpec spec_;
  std::string file_;
  Instant now_{hours(1)};
  Instant restart_at_ = kNever;
  std::unique_ptr<SimAgent> agent_;
  std::uint64_t steps_ = 0;
  std::string failure_;
};

}  // namespace

Outcome run_schedule(std::uint64_t seed, ConfCache& cache) {
  return Schedule(seed, cache).run();
}

}  // namespace fdbpack::supervise::sim
