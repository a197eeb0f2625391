// SPDX-License-Identifier: Apache-2.0
//
// The agent dies, is replaced or loses its memory; its processes go on, are taken over, and none
// is started twice.
#include "tests/agent/faults/adoption_fixture.hpp"
#include "tests/support/places.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>

namespace fdbpack::test {
namespace {

namespace fs = std::filesystem;

class Fault11 : public AdoptionFault {};
class Fault12 : public AdoptionFault {};
class Fault19 : public AdoptionFault {};
class Fault25 : public AdoptionFault {};
class Fault32 : public AgentTest {};
class Fault48 : public AdoptionFault {};

class Fault50 : public AdoptionFault {
 protected:
  // The state file names a stranger in place of a child that died, and is changed further by
  // `edit`: the next agent starts a new child.
  void expect_stranger_left_alone(const std::function<void(nlohmann::json&)>& edit) {
    ASSERT_NO_FATAL_FAILURE(start_children({{"a", ""}}));
    kill_agent();
    const Pidfd old(last_pid("a"));
    ASSERT_TRUE(old.send(SIGKILL));
    ASSERT_TRUE(old.wait_for_end(kLimit));
    const pid_t stranger =
        spawn({{child_program(), "--stamp=" + dir().file("stamps"), "--id=stranger"},
               marked_environment()});
    ASSERT_TRUE(wait_for_starts("stranger", 1));
    auto document = nlohmann::json::parse(read_file(state_file()));
    document["processes"][0]["pid"] = stranger;
    document["processes"][0]["start_ticks"] = process_info(stranger).start_ticks;
    edit(document);
    write_file(state_file(), document.dump());
    start_agent();
    ASSERT_TRUE(wait_for_starts("a", 2));
    EXPECT_EQ(stop_agent(), 0);
    EXPECT_TRUE(is_alive(stranger));
    kill(stranger, SIGKILL);
    waitpid(stranger, nullptr, 0);
  }
};

// It waits for its restart when the agent is killed: the next one does not count from the
// beginning.
TEST_F(Fault11, RestartsAreCountedOnOverAProcessThatWaits) {
  write_conf({{"a", "mode = exit\ncode = 1\n"}}, "restart_delay = 60\n");
  start_agent();
  // One restart at once, then it waits for a minute.
  ASSERT_TRUE(wait([&] {
    return status_of("child.a").value("restarts", 0) == 1 && living().empty() &&
           read_file(dir().file("state/state.json")).find("\"starts\":2") != std::string::npos;
  })) << status_of("child.a").dump();
  kill_agent();
  start_agent();
  ASSERT_TRUE(wait([&] { return status_of("child.a").value("restarts", 0) >= 2; }))
      << status_of("child.a").dump();
}

TEST_F(Fault11, AgentKilledAndRestartedAdoptsChildrenWithoutDuplicates) {
  ASSERT_NO_FATAL_FAILURE(start_children({{"a", ""}, {"b", "mode = argv\n"}, {"c", ""}}));
  kill_agent();
  EXPECT_EQ(living().size(), 3u);
  start_agent();
  expect_all_adopted();
  expect_supervised("a");
  expect_supervised("b");
  EXPECT_EQ(stop_agent(), 0);
  EXPECT_TRUE(living().empty()) << "adopted processes are stopped with the agent, too";
}

TEST_F(Fault11, ExitOfAnAdoptedChildIsKnown) {
  ASSERT_NO_FATAL_FAILURE(start_children({{"a", "mode = graceful\ncode = 7\n"}}));
  kill_agent();
  start_agent();
  expect_all_adopted();
  ASSERT_TRUE(Pidfd(last_pid("a")).send(SIGTERM));
  ASSERT_TRUE(wait_for_starts("a", 2));
  EXPECT_TRUE(wait_for_log("exited 7") || wait_for_log("exited for unknown reason"));
}

TEST_F(Fault11, ChildThatDiedWhileNoAgentRanIsStartedByTheNext) {
  ASSERT_NO_FATAL_FAILURE(start_children({{"a", ""}, {"b", ""}}));
  kill_agent();
  const Pidfd dead(last_pid("a"));
  ASSERT_TRUE(dead.send(SIGKILL));
  ASSERT_TRUE(dead.wait_for_end(kLimit));
  start_agent();
  ASSERT_TRUE(wait_for_starts("a", 2));
  EXPECT_EQ(starts("b"), 1u);
  EXPECT_EQ(living().size(), 2u);
  EXPECT_EQ(doubles(), 0u);
}

TEST_F(Fault11, ConfChangedWhileNoAgentRanIsAppliedToAdoptedChildren) {
  ASSERT_NO_FATAL_FAILURE(start_children({{"a", ""}, {"b", ""}, {"c", ""}}));
  kill_agent();
  write_conf({{"a", ""}, {"b", "class = log\n"}, {"d", ""}});
  start_agent();
  ASSERT_TRUE(wait_for_starts("d", 1));
  ASSERT_TRUE(wait_for_starts("b", 2));
  EXPECT_TRUE(wait([&] { return living() == std::vector<std::string>{"a", "b", "d"}; }));
  EXPECT_EQ(starts("a"), 1u);
  EXPECT_EQ(doubles(), 0u);
}

TEST_F(Fault12, UpgradeInPlaceKeepsPidAndChildren) {
  ASSERT_NO_FATAL_FAILURE(start_children({{"a", ""}, {"b", "mode = argv\n"}}));
  const pid_t agent = agent_pid();
  const std::size_t from = log_size();
  signal_agent(SIGUSR2);
  ASSERT_TRUE(wait_for_log("Started ", from)) << "the new image never came up";
  EXPECT_TRUE(is_alive(agent));
  expect_all_adopted();
  EXPECT_EQ(process_info(last_pid("a")).parent, agent);
  expect_supervised("a");
  // And again: nothing is used up by the first time.
  const std::size_t second = log_size();
  signal_agent(SIGUSR2);
  ASSERT_TRUE(wait_for_log("Started ", second));
  expect_supervised("b");
  EXPECT_EQ(starts("a"), 2u);
  EXPECT_EQ(doubles(), 0u);
  EXPECT_EQ(stop_agent(), 0);
}

// Between the old program and the handlers of the new one a signal must not end the agent.
TEST_F(Fault12, SignalsDuringTheUpgradeAreHeardAfterIt) {
  ASSERT_NO_FATAL_FAILURE(start_children({{"a", ""}, {"b", ""}}));
  const std::size_t from = log_size();
  signal_agent(SIGUSR2);
  const bool is_up = wait(
      [&] {
        signal_agent(SIGHUP);
        return log().find("Started ", from) != std::string::npos;
      },
      kLimit);
  ASSERT_TRUE(is_up);
  ASSERT_TRUE(is_alive(agent_pid()));
  expect_all_adopted();
  ASSERT_NO_FATAL_FAILURE(reload());
  EXPECT_EQ(stop_agent(), 0);
}

TEST_F(Fault19, ReplacedBinaryIsAdoptedAndUsedAtTheNextStart) {
  const std::string binary = dir().file("server");
  fs::copy_file(child_program(), binary);
  const auto write_it = [&] {
    std::string text = conf({{"a", ""}});
    text.replace(text.find(child_program()), child_program().size(), binary);
    replace_file(conf_path(), text);
  };
  write_it();
  start_agent();
  ASSERT_TRUE(wait_for_starts("a", 1));
  // As a package manager does it: the old file lives on as the process's image only.
  fs::copy_file(child_program(), binary + ".new");
  fs::rename(binary + ".new", binary);
  kill_agent();
  start_agent();
  EXPECT_TRUE(wait([&] { return status_of("child.a").value("pid", 0) == last_pid("a"); }));
  EXPECT_EQ(starts("a"), 1u);
  EXPECT_TRUE(wait([&] { return status_of("child.a").value("binary_replaced", false); }))
      << "nothing says that another binary is on disk than runs: " << status_of("child.a");
  ASSERT_TRUE(Pidfd(last_pid("a")).send(SIGKILL));
  ASSERT_TRUE(wait_for_starts("a", 2));
  EXPECT_EQ(executable_of(last_pid("a")), binary);
  EXPECT_EQ(doubles(), 0u);
}

// The kernel kills the agent when memory is short: at any moment, also while it starts children.
TEST_F(Fault25, AgentKilledWhileItStartsChildrenDoublesNone) {
  std::vector<Section> sections;
  for (int i = 0; i < 40; ++i)
    sections.push_back({std::to_string(i), ""});
  write_conf(sections);
  start_agent();
  for (std::size_t seen : {1u, 7u, 20u, 33u}) {
    ASSERT_TRUE(wait([&] { return stamps().size() >= seen; }));
    ASSERT_NO_FATAL_FAILURE(kill_and_start_agent());
  }
  ASSERT_TRUE(wait([&] { return living().size() == 40; }));
  for (const Section& section : sections)
    EXPECT_EQ(starts(section.id), 1u) << section.id;
  EXPECT_EQ(doubles(), 0u);
}

// In a pid namespace of its own the number of a dead child is given to a stranger before the next
// agent comes: it must be neither adopted nor signalled, and the child is started anew.
TEST_F(Fault32, PidThatIsUsedAnewIsNotMistakenForTheChild) {
  const std::vector<std::string> alone{"unshare",      "--pid",        "--fork",
                                       "--mount-proc", "--kill-child", "python3"};
  auto tried = alone;
  tried.insert(tried.end(), {"-c", "open('/proc/sys/kernel/ns_last_pid', 'w').write('100')"});
  if (run_to_end(tried) != 0) {
    GTEST_SKIP() << "needs a pid namespace, ns_last_pid and python3: run as root";
  }
  write_conf({{"a", ""}});
  AgentOptions options;
  options.prefix = alone;
  options.prefix.insert(options.prefix.end(),
                        {test::source_file("tests/agent/faults/reused_pid.py"),
                         dir().path().string(), child_program()});
  start_agent(options);
  EXPECT_EQ(wait_for_agent(Seconds(60)), 0) << "agent.log says why";
  EXPECT_EQ(doubles(), 0u);
}

struct DamageCase {
  const char* name;
  const char* text;  // nullptr: remove the file; "half": cut it in half
};
void PrintTo(const DamageCase& damage, std::ostream* stream) {
  *stream << damage.name;
}

class Fault48Damage : public AdoptionFault, public ::testing::WithParamInterface<DamageCase> {};

TEST_P(Fault48Damage, StateFileThatCannotBeTrustedIsIgnoredAndTheChildrenAreFound) {
  ASSERT_NO_FATAL_FAILURE(start_children({{"a", ""}, {"b", "mode = argv\n"}, {"c", ""}}));
  kill_agent();
  const std::string path = state_file();
  const std::string text = read_file(path);
  if (GetParam().text == nullptr) {
    fs::remove_all(dir().file("state"));
  } else if (std::string(GetParam().text) == "half") {
    write_file(path, text.substr(0, text.size() / 2));
  } else {
    write_file(path, GetParam().text);
  }
  const std::size_t from = log_size();
  start_agent();
  expect_all_adopted();
  if (GetParam().text != nullptr) {
    EXPECT_TRUE(wait_for_log("state", from)) << "it must be said why the file was ignored";
  }
  expect_supervised("b");
}

INSTANTIATE_TEST_SUITE_P(
    Fault48, Fault48Damage,
    ::testing::Values(DamageCase{"Lost", nullptr}, DamageCase{"Torn", "half"},
                      DamageCase{"Empty", ""}, DamageCase{"Garbage", "\x01\xff not a state file"},
                      DamageCase{"OtherVersion", "{\"version\":999,\"boot_id\":\"x\"}"},
                      DamageCase{"DeepNesting", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["}),
    [](const auto& damage) { return damage.param.name; });

// After a reboot the numbers in the state file mean other processes.
TEST_F(Fault50, RecordsOfAnotherBootAreNotBelieved) {
  ASSERT_NO_FATAL_FAILURE(expect_stranger_left_alone(
      [](nlohmann::json& state) { state["boot_id"] = "00000000-1111-2222-3333-444444444444"; }));
}

// Even when boot, pid and start time fit: a process without our marker is a stranger.
TEST_F(Fault50, ProcessWithoutOurMarkerIsNotAdopted) {
  ASSERT_NO_FATAL_FAILURE(expect_stranger_left_alone([](nlohmann::json&) {}));
}

}  // namespace
}  // namespace fdbpack::test
