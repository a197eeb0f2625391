// SPDX-License-Identifier: Apache-2.0
//
// The next agent cannot take over as it should: descriptors, the handover or the lock are missing.
// Whatever it does then, nothing is started twice.
#include "tests/agent/faults/adoption_fixture.hpp"

#include <sys/prctl.h>

#include <algorithm>

namespace fdbpack::test {
namespace {

namespace fs = std::filesystem;

struct HandoverCase {
  const char* name;
  const char* script;  // what happens to the handover between the two programs
};
void PrintTo(const HandoverCase& one, std::ostream* stream) {
  *stream << one.name;
}

class Fault12Handover : public AdoptionFault, public ::testing::WithParamInterface<HandoverCase> {};
class Fault05Adoption : public AdoptionFault {};
class Fault48Joined : public AdoptionFault {};
class Fault22Adoption : public AdoptionFault {};
class Fault40Kill : public AdoptionFault {};

// The new program is of a version that does not understand the old one, or there was no memory.
TEST_P(Fault12Handover, HandoverThatCannotBeReadCostsNeitherLockNorProcesses) {
  AgentOptions options;
  options.program = dir().file("agent");
  fs::copy_file(agent_program(), options.program);
  ASSERT_NO_FATAL_FAILURE(start_children({{"a", ""}, {"b", "mode = argv\n"}}, options));
  // SIGUSR2 executes what is at its path by then.
  fs::remove(options.program);
  write_file(options.program, "#!/bin/sh\n" + std::string(GetParam().script) + "\nexec " +
                                  agent_program() + " \"$@\"\n");
  fs::permissions(options.program, fs::perms::owner_all);
  const pid_t agent = agent_pid();
  const std::size_t from = log_size();
  signal_agent(SIGUSR2);
  ASSERT_TRUE(wait_for_log("Started ", from));
  ASSERT_TRUE(wait_for_log("Loading configuration", from));
  ASSERT_TRUE(is_alive(agent));
  expect_all_adopted();
  expect_supervised("a");
  expect_supervised("b");
  EXPECT_EQ(stop_agent(), 0);
  EXPECT_TRUE(living().empty());
}

INSTANTIATE_TEST_SUITE_P(
    Fault12, Fault12Handover,
    ::testing::Values(HandoverCase{"Empty", "exec 9</dev/null; export FDBPACK_HANDOVER_FD=9"},
                      HandoverCase{"Garbage", "exec 9<\"$0\"; export FDBPACK_HANDOVER_FD=9"},
                      HandoverCase{"Closed", "export FDBPACK_HANDOVER_FD=99"},
                      HandoverCase{"NoNumber", "export FDBPACK_HANDOVER_FD=nonsense"},
                      HandoverCase{"Lost", "unset FDBPACK_HANDOVER_FD"}),
    [](const auto& one) { return one.param.name; });

// Descriptors for some of them only: the others are not known to have ended, so they are neither
// started anew nor lost.
TEST_F(Fault22Adoption, WithoutDescriptorsToAdoptAllNoneIsStartedTwice) {
  std::vector<Section> sections;
  for (int i = 0; i < 16; ++i)
    sections.push_back({std::to_string(i), ""});
  ASSERT_NO_FATAL_FAILURE(start_children(sections));
  // Without its sixteen children, at three descriptors each, and with one each for eight.
  const std::size_t few = lowest_free_descriptor(agent_pid()) - 16 * 3 + 8;
  AgentOptions options;
  options.prefix = {"prlimit", "--nofile=" + std::to_string(few) + ":" + std::to_string(few)};
  kill_agent();
  start_agent(options);
  ASSERT_TRUE(wait([&] { return status().dump().find("is not started: ") != std::string::npos; }))
      << status();
  EXPECT_EQ(stamps().size(), 16u);
  EXPECT_EQ(living().size(), 16u);
  // Descriptors come free as supervised processes go: then the others are taken over.
  std::vector<Section> fewer;
  for (const Section& section : sections) {
    if (!status_of("child." + section.id).contains("pid")) fewer.push_back(section);
  }
  ASSERT_LT(fewer.size(), sections.size());
  ASSERT_FALSE(fewer.empty());
  fewer.resize(std::min<std::size_t>(fewer.size(), 4));
  write_conf(fewer);
  for (const Section& section : fewer) {
    EXPECT_TRUE(wait([&] {
      return status_of("child." + section.id).value("pid", 0) == last_pid(section.id);
    })) << section.id
        << " " << status();
  }
  EXPECT_EQ(stamps().size(), 16u) << "somebody was started again";
  EXPECT_EQ(doubles(), 0u);
}

// Whoever restarts the agent may be faster than the kernel: the lock is still held, by the agent
// that is dying or by a child that has not executed its own program yet.
TEST_F(Fault40Kill, StartedRightAfterAKillItTakesOver) {
  ASSERT_NO_FATAL_FAILURE(start_children({{"a", ""}, {"b", ""}}));
  for (int i = 0; i < 5; ++i) {
    ASSERT_NO_FATAL_FAILURE(kill_and_start_agent());
    ASSERT_TRUE(wait([&] { return status_of("child.a").value("pid", 0) == last_pid("a"); }))
        << status();
  }
  expect_all_adopted();
}

// The agent dies after it has started a successor and before it has written that down, and nobody
// has reaped the dead process yet: it is still there by its pid and start time.
TEST_F(Fault40Kill, DeadProcessInTheRecordDoesNotHideItsLivingSuccessor) {
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // the dead one becomes ours, who do not reap it
  ASSERT_NO_FATAL_FAILURE(start_children({{"a", ""}}));
  ASSERT_NO_FATAL_FAILURE(kill_and_start_agent());
  ASSERT_TRUE(wait([&] { return status_of("child.a").value("pid", 0) == last_pid("a"); }));
  const std::string state = dir().file("state/state.json");
  const std::string recorded = read_file(state);
  ASSERT_TRUE(Pidfd(last_pid("a")).send(SIGKILL));
  ASSERT_TRUE(wait_for_starts("a", 2));
  kill_agent();
  write_file(state, recorded);
  start_agent();
  ASSERT_TRUE(wait([&] { return status_of("child.a").value("pid", 0) == last_pid("a"); }))
      << status();
  EXPECT_EQ(starts("a"), 2u);
  EXPECT_EQ(doubles(), 0u);
}

// Nobody tells an agent that the child of another one was stopped.
TEST_F(Fault05Adoption, AdoptedChildThatIsStoppedIsSeen) {
  ASSERT_NO_FATAL_FAILURE(start_children({{"a", ""}, {"b", ""}}));
  kill_agent();
  const Pidfd child(last_pid("a"));
  ASSERT_TRUE(child.send(SIGSTOP));
  start_agent();
  ASSERT_TRUE(wait([&] { return status_of("child.a").value("stopped", false); })) << status();
  EXPECT_FALSE(status_of("child.b").value("stopped", true));
  ASSERT_TRUE(child.send(SIGCONT));
  EXPECT_TRUE(wait([&] { return !status_of("child.a").value("stopped", true); })) << status();
  EXPECT_TRUE(wait_for_log("goes on"));
  expect_all_adopted();
}

// What was said on stdout before is gone with the record: it may have joined or not.
TEST_F(Fault48Joined, WithoutTheRecordItIsUnknownWhetherAChildHasJoined) {
  const auto joined = [this] {
    return status_of("child.a").value("joined", nlohmann::json("none"));
  };
  ASSERT_NO_FATAL_FAILURE(start_children({{"a", "mode = joined\n"}}));
  ASSERT_TRUE(wait([&] { return joined() == true; }));
  kill_agent();
  start_agent();
  ASSERT_TRUE(wait([&] { return joined() == true; })) << "the record knows";
  kill_agent();
  fs::remove_all(dir().file("state"));
  start_agent();
  ASSERT_TRUE(wait([&] { return joined().is_null(); })) << status();
  kill_agent();
  start_agent();
  ASSERT_TRUE(wait([&] { return joined().is_null(); })) << "the next one knows no better";
  ASSERT_TRUE(Pidfd(last_pid("a")).send(SIGKILL));
  EXPECT_TRUE(wait([&] { return joined() == true; })) << "its successor said so";
}

}  // namespace
}  // namespace fdbpack::test
