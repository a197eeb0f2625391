// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/process_table.hpp"

#include "adapters/posix/pidfd.hpp"
#include "adapters/posix/spawn.hpp"
#include "tests/adapters/posix/support.hpp"

#include <gmock/gmock.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

namespace fdbpack::posix {
namespace {

class ProcessTable : public testing::Test {
 protected:
  void TearDown() override {
    for (const int pid : started_) {
      ::kill(-pid, SIGKILL);
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
    for (auto& found : findings_.found)
      ::close(found.pidfd);
    for (auto& found : findings_.unverified) {
      if (found.pidfd >= 0) ::close(found.pidfd);
    }
  }
  int start(const std::string& agent, const std::string& section,
            const std::string& script = "exec sleep 60") {
    ports::LaunchPlan plan;
    plan.argv = {"/bin/sh", "-c", script};
    plan.environment = {"FDBPACK_AGENT_ID=" + agent, "FDBPACK_PROCESS=" + section, "PATH=/bin"};
    auto outcome = spawner_.spawn(plan);
    started_.push_back(std::get<Spawned>(outcome).pid);
    return started_.back();
  }
  supervise::AgentState state(int pid, const std::string& section) {
    supervise::ProcessRecord record;
    record.section = section;
    record.pid = pid;
    record.start_ticks = table_.stamp(pid)->start_ticks;
    return {table_.boot_id(), agent_, {record}};
  }
  void find(const supervise::AgentState& recorded, std::vector<int> handed = {}) {
    findings_ = table_.find({agent_, recorded, std::move(handed), {::geteuid()}, {}});
  }

  std::string agent_ = "test-" + std::to_string(::getpid());
  ProcTable table_;
  Spawner spawner_;
  std::vector<int> started_;
  ports::Findings findings_;
};

TEST_F(ProcessTable, FindsByMarksWhenTheRecordIsLost) {
  const int pid = start(agent_, "s.1");
  start(agent_ + "0", "s.2");
  find({});
  ASSERT_EQ(findings_.found.size(), 1u);
  EXPECT_EQ(findings_.found[0].pid, pid);
  EXPECT_EQ(findings_.found[0].section, "s.1");
  EXPECT_FALSE(findings_.found[0].was_recorded);
}

TEST_F(ProcessTable, ADescendantIsNotTakenForTheProcess) {
  const int pid = start(agent_, "s.1", "setsid sleep 60 & exec sleep 61");
  ::kill(pid, SIGKILL);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);
  find({});
  EXPECT_TRUE(findings_.found.empty());
}

TEST_F(ProcessTable, FindsByRecordOnceOnly) {
  const int pid = start(agent_, "s.1");
  find(state(pid, "s.1"));
  ASSERT_EQ(findings_.found.size(), 1u);
  EXPECT_TRUE(findings_.found[0].was_recorded);
}

TEST_F(ProcessTable, APidThatWasUsedAnewIsRefused) {
  const int pid = start("somebody-else", "s.1");
  auto recorded = state(pid, "s.1");
  recorded.processes[0].start_ticks -= 1;
  find(recorded);
  EXPECT_TRUE(findings_.found.empty());
  EXPECT_THAT(findings_.notes, testing::Contains(testing::HasSubstr("used anew")));
}

TEST_F(ProcessTable, AForeignProcessWithTheRecordedPidIsRefused) {
  const int pid = start("somebody-else", "s.1");
  find(state(pid, "s.1"));
  EXPECT_TRUE(findings_.found.empty());
}

TEST_F(ProcessTable, TakesHandedDescriptors) {
  const int pid = start(agent_, "s.1");
  find({}, {open_pidfd(pid).release()});
  ASSERT_EQ(findings_.found.size(), 1u);
  EXPECT_EQ(findings_.found[0].pid, pid);
}

TEST_F(ProcessTable, WithoutProcNothingIsVerifiedAndNothingTaken) {
  const test::TempDir empty;
  const int pid = start(agent_, "s.1");
  ProcTable blind(empty.path());
  findings_ = blind.find({agent_, state(pid, "s.1"), {}, {::geteuid()}, {}});
  EXPECT_TRUE(findings_.found.empty());
  ASSERT_EQ(findings_.unverified.size(), 1u);
  EXPECT_EQ(findings_.unverified[0].section, "s.1");
  EXPECT_GE(findings_.unverified[0].pidfd, 0);
}

// No descriptor is left: nothing was learnt, so nobody may be taken for ended.
TEST_F(ProcessTable, WithoutDescriptorsNobodyIsTakenForEnded) {
  const int pid = start(agent_, "s.1");
  const auto recorded = state(pid, "s.1");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const UniqueFd lowest_free(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const rlimit none_left{static_cast<rlim_t>(lowest_free.get()) + 1, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none_left), 0);
  find(recorded);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(findings_.found.empty());
  ASSERT_EQ(findings_.unverified.size(), 1u);
  EXPECT_EQ(findings_.unverified[0].section, "s.1");
  EXPECT_EQ(findings_.unverified[0].pidfd, -1);
  EXPECT_THAT(findings_.shortage, testing::HasSubstr("Too many open files"));
}

TEST_F(ProcessTable, WithoutDescriptorsAHandedProcessIsNotTakenForEnded) {
  const int pid = start(agent_, "s.1");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int handed = open_pidfd(pid).release();
  const UniqueFd lowest_free(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const rlimit none_left{static_cast<rlim_t>(lowest_free.get()) + 1, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none_left), 0);
  find({}, {handed});
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_THAT(findings_.shortage, testing::HasSubstr("Too many open files"));
}

TEST_F(ProcessTable, WhoIsKnownIsPassedOver) {
  const int pid = start(agent_, "s.1");
  findings_ = table_.find({agent_, state(pid, "s.1"), {}, {::geteuid()}, {pid}});
  EXPECT_TRUE(findings_.found.empty());
}

// `exec` in a script makes another file of the process; its marks show that it is the same.
TEST_F(ProcessTable, AnotherFileWithOurMarksIsOurs) {
  const int pid = start(agent_, "s.1");
  auto recorded = state(pid, "s.1");
  recorded.processes[0].exe_inode += 1;
  find(recorded);
  ASSERT_EQ(findings_.found.size(), 1u);
}

// A process that hides its environment: what it executes is all that can be compared.
TEST_F(ProcessTable, AnotherFileWithoutMarksIsHeldBack) {
  const test::TempDir proc;
  const int pid = start(agent_, "s.1");
  const std::string number = std::to_string(pid);
  std::filesystem::create_directories(proc.path(number));
  (void)proc.write(number + "/stat", test::read_file("/proc/" + number + "/stat"));
  const auto exe = proc.write(number + "/exe", "a file");
  ProcTable blind(proc.path());
  auto recorded = state(pid, "s.1");
  struct stat info {};
  ASSERT_EQ(::stat(exe.c_str(), &info), 0);
  recorded.processes[0].exe_device = info.st_dev;
  recorded.processes[0].exe_inode = info.st_ino;
  findings_ = blind.find({agent_, recorded, {}, {::geteuid()}, {}});
  EXPECT_EQ(findings_.found.size(), 1u) << "the same file";
  for (auto& found : findings_.found)
    ::close(found.pidfd);
  recorded.processes[0].exe_inode += 1;
  findings_ = blind.find({agent_, recorded, {}, {::geteuid()}, {}});
  EXPECT_TRUE(findings_.found.empty());
  ASSERT_EQ(findings_.unverified.size(), 1u) << "another file";
  EXPECT_THAT(findings_.notes, testing::Contains(testing::HasSubstr("executes another file")));
}

// Names of sections compare without regard to case: these two are one.
TEST_F(ProcessTable, ASectionInAnotherCaseIsFoundOnceOnly) {
  const int pid = start(agent_, "S.one");
  find(state(pid, "s.One"));
  ASSERT_EQ(findings_.found.size(), 1u);
  EXPECT_EQ(findings_.found[0].pid, pid);
}

TEST_F(ProcessTable, ReadsResidentMemory) {
  EXPECT_GT(table_.gauge(::getpid())->resident_bytes().value_or(0), 100u * 1024);
  EXPECT_FALSE(table_.gauge(INT32_MAX)->resident_bytes());
}

}  // namespace
}  // namespace fdbpack::posix
