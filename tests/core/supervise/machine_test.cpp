// SPDX-License-Identifier: Apache-2.0
//
// What every phase does with every event that does not concern it, and other rules that hold
// throughout. The stories are in scenarios/.
#include "fdbpack/supervise/machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace fdbpack::supervise {
namespace {

using std::chrono::seconds;

constexpr Instant kNow{std::chrono::hours(1)};
constexpr Revision kOne{1, 0};

class Machine {
 public:
  Machine& feed(const Event& event) {
    Step next = step(state, event, policy, now, random);
    state = next.state;
    actions = next.actions;
    return *this;
  }
  template <class A>
  std::size_t count() const {
    return static_cast<std::size_t>(
        std::count_if(actions.begin(), actions.end(),
                      [](const Action& action) { return std::holds_alternative<A>(action); }));
  }

  Policy policy;
  Instant now = kNow;
  Random random{1};
  State state = initial_state(kNow);
  std::vector<Action> actions;
};

Machine down() {
  return Machine().feed(Stop{}).feed(Configured{kOne, true});
}
Machine starting() {
  return Machine().feed(Configured{kOne, true});
}
Machine running() {
  return starting().feed(Launched{10});
}
Machine waiting() {
  return running().feed(ProcessExited{10, Exited{1}, false}).feed(LaunchFailed{ExecFailed{2}});
}
Machine stopping() {
  return running().feed(Restart{});
}
Machine killing() {
  Machine machine = stopping();
  machine.now += seconds(10);
  return machine.feed(Timer{});
}
Machine clearing() {
  return running().feed(ProcessExited{10, Exited{1}, true});
}

std::vector<Machine> all_phases() {
  return {down(), starting(), running(), waiting(), stopping(), killing(), clearing()};
}

TEST(ProcessMachine, HasAnExampleOfEachPhase) {
  const std::vector<Machine> all = all_phases();
  const std::string_view names[] = {"down",     "starting", "running", "waiting",
                                    "stopping", "killing",  "clearing"};
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(describe(all[i].state).name, names[i]);
}

TEST(ProcessMachine, IgnoresWhatConcernsOtherProcesses) {
  for (Machine machine : all_phases()) {
    const State before = machine.state;
    SCOPED_TRACE(describe(before).name);
    for (const Event& event : std::vector<Event>{ProcessExited{99, Exited{0}, false}, GroupGone{99},
                                                 MemoryExceeded{99, 2, 1}, Joined{99}}) {
      machine.feed(event);
      EXPECT_EQ(machine.state, before);
      EXPECT_EQ(machine.count<Note>(), machine.actions.size());
    }
  }
}

TEST(ProcessMachine, TakesAnEarlyTimerForNothing) {
  for (Machine machine : all_phases()) {
    const State before = machine.state;
    SCOPED_TRACE(describe(before).name);
    machine.feed(Timer{});
    EXPECT_EQ(machine.state, before);
    EXPECT_EQ(machine.actions.size(), deadline(before) ? 1u : 0u);
    EXPECT_EQ(machine.count<SetTimer>(), machine.actions.size());
  }
}

TEST(ProcessMachine, NeverLaunchesWhileSomethingLives) {
  const std::vector<Event> events = {Configured{kOne, true},
                                     Configured{Revision{2, 2}, true},
                                     Configured{Revision{2, 2}, false},
                                     Deconfigured{true},
                                     Deconfigured{false},
                                     Start{},
                                     Stop{},
                                     Restart{},
                                     Reset{},
                                     Shutdown{kNow + seconds(1)},
                                     MemoryExceeded{10, 2, 1}};
  for (const Machine& machine : {starting(), running(), stopping(), killing(), clearing()}) {
    for (const Event& event : events) {
      for (const Event& then : events) {
        Machine copy = machine;
        EXPECT_EQ(copy.feed(event).count<Launch>(), 0u) << describe(copy.state).name;
        EXPECT_EQ(copy.feed(then).count<Launch>(), 0u) << describe(copy.state).name;
        EXPECT_TRUE(is_alive(copy.state));
      }
    }
  }
}

TEST(ProcessMachine, SaysTheOneDeadlineWheneverItChanges) {
  const std::vector<Event> events = {Configured{Revision{2, 2}, true},
                                     Deconfigured{true},
                                     Stop{},
                                     Start{},
                                     Restart{},
                                     Shutdown{kNow},
                                     Timer{}};
  for (Machine machine : all_phases()) {
    machine.now += seconds(100);
    for (const Event& event : events) {
      Machine copy = machine;
      const auto before = deadline(copy.state);
      copy.feed(event);
      std::optional<std::optional<Instant>> said;
      for (const Action& action : copy.actions) {
        if (const auto* timer = std::get_if<SetTimer>(&action)) said = timer->at;
      }
      EXPECT_LE(copy.count<SetTimer>(), 1u);
      EXPECT_EQ(said.value_or(before), deadline(copy.state));
    }
  }
}

TEST(ProcessMachine, SendsSigcontAfterSigtermSoThatAStoppedProcessActsOnIt) {
  Machine machine = running().feed(Stop{});
  ASSERT_GE(machine.actions.size(), 2u);
  EXPECT_EQ(machine.actions[0], Action(SendSignal{SIGTERM, SignalTarget::group, 10}));
  EXPECT_EQ(machine.actions[1], Action(SendSignal{SIGCONT, SignalTarget::group, 10}));
}

TEST(ProcessMachine, LaunchesBeforeItTalksAboutTheDeath) {
  Machine machine = running().feed(ProcessExited{10, Signalled{9, false}, false});
  ASSERT_FALSE(machine.actions.empty());
  EXPECT_EQ(machine.actions[0], Action(Launch{kOne}));
}

TEST(ProcessMachine, RefusesAnAdministratorsStartOfWhatIsNotConfigured) {
  Machine machine = Machine().feed(Start{});
  EXPECT_EQ(machine.count<Launch>(), 0u);
  EXPECT_EQ(machine.count<Note>(), 1u);
  // And a restart does not kill what was left running without a configuration.
  Machine left = running().feed(Deconfigured{false}).feed(Restart{});
  EXPECT_EQ(describe(left.state).name, "running");
}

TEST(ProcessMachine, CountsQuickDeathsUntilARunOfTenSeconds) {
  Machine machine = running();
  machine.policy.restart.delay_max = seconds(0);
  for (unsigned i = 1; i <= 3; ++i) {
    machine.feed(ProcessExited{10, Exited{1}, false});
    EXPECT_EQ(describe(machine.state).quick_deaths, i);
    machine.feed(Start{}).feed(Launched{10});
  }
  machine.now += seconds(10);
  EXPECT_EQ(describe(machine.feed(ProcessExited{10, Exited{1}, false}).state).quick_deaths, 0u);
}

TEST(ProcessMachine, RunsWellTenSecondsAfterItsStart) {
  Machine machine = running();
  const Instant since = describe(machine.state).since;
  EXPECT_EQ(runs_well_at(machine.state), since + seconds(10));
  EXPECT_EQ(runs_well_at(machine.feed(ProcessExited{10, Exited{1}, false}).state), std::nullopt);
}

TEST(ProcessMachine, GivesAnAdoptedProcessTheRestartsThatWereCountedBefore) {
  Machine machine = Machine().feed(Adopted{5, kNow - seconds(9), kOne, kNow - seconds(3), 4});
  const View view = describe(machine.state);
  EXPECT_EQ(view.restarts, 3u);
  EXPECT_EQ(view.joined_at, kNow - seconds(3));
  EXPECT_EQ(view.since, kNow - seconds(9));
  EXPECT_TRUE(view.is_adopted);
}

TEST(ProcessMachine, ComparesConfigurationsWithWhatLives) {
  for (Machine machine : all_phases()) {
    const bool lives = is_alive(machine.state) && describe(machine.state).name != "clearing";
    SCOPED_TRACE(describe(machine.state).name);
    EXPECT_EQ(current_revision(machine.state), kOne);
    const Revision two{2, 0};
    machine.feed(Configured{two, false});
    EXPECT_EQ(current_revision(machine.state), lives ? kOne : two);
    EXPECT_EQ(describe(machine.state).pending,
              lives ? PendingChange::command : PendingChange::none);
  }
}

TEST(ProcessMachine, StopsForMemoryOnlyWhatRuns) {
  for (Machine machine : all_phases()) {
    const bool is_running = describe(machine.state).name == "running";
    machine.feed(MemoryExceeded{10, 2, 1});
    EXPECT_EQ(machine.count<SendSignal>(), is_running ? 2u : 0u);
  }
}

}  // namespace
}  // namespace fdbpack::supervise
