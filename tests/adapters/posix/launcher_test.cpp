// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/launcher.hpp"

#include "adapters/posix/output_pump.hpp"
#include "adapters/posix/pidfd.hpp"
#include "tests/adapters/posix/support.hpp"

#include <gmock/gmock.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <filesystem>
#include <set>

namespace fdbpack::posix {
namespace {

using ports::LaunchError;
using ports::LaunchPlan;
using supervise::Exit;
using test::run_until;

class Launcher : public testing::Test {
 protected:
  LaunchPlan shell(const std::string& script) {
    LaunchPlan plan;
    plan.argv = {"/bin/sh", "-c", script};
    plan.environment = {"PATH=/usr/bin:/bin", "COLOUR=blue"};
    plan.stdout_fd = pump_.fds(*output_).out;
    plan.stderr_fd = pump_.fds(*output_).err;
    return plan;
  }

  std::unique_ptr<ports::Child> start(const LaunchPlan& plan) {
    auto outcome = launcher_.launch(plan, [this](const Exit& exit, bool group_lives) {
      exit_ = exit;
      group_lives_ = group_lives;
    });
    if (auto* error = std::get_if<LaunchError>(&outcome)) {
      ADD_FAILURE() << supervise::to_string(error->exit);
      return nullptr;
    }
    return std::move(std::get<std::unique_ptr<ports::Child>>(outcome));
  }

  // What a script that ends by itself writes.
  std::vector<std::string> output_of(const LaunchPlan& plan) {
    const auto child = start(plan);
    EXPECT_TRUE(run_until(io_, [&] { return exit_.has_value(); }));
    pump_.end_of_process(*output_);
    pump_.drain(*output_);
    return lines_;
  }

  boost::asio::io_context io_{1};
  SteadyClock clock_{io_};
  std::vector<std::string> lines_;
  MemoryOutputPump pump_{
      io_, clock_,
      [this](ports::OutputId, ports::Stream, std::string_view line) { lines_.emplace_back(line); }};
  Result<ports::OutputId> output_ = pump_.open("test");
  PosixLauncher launcher_{io_, clock_};
  std::optional<Exit> exit_;
  bool group_lives_ = false;
};

TEST_F(Launcher, ReportsTheExitCode) {
  const auto child = start(shell("exit 7"));
  ASSERT_TRUE(run_until(io_, [&] { return exit_.has_value(); }));
  EXPECT_EQ(*exit_, Exit(supervise::Exited{7}));
  EXPECT_FALSE(group_lives_);
}

TEST_F(Launcher, ReportsTheSignal) {
  const auto child = start(shell("exec sleep 60"));
  EXPECT_EQ(child->signal_process(SIGKILL), 0);
  ASSERT_TRUE(run_until(io_, [&] { return exit_.has_value(); }));
  EXPECT_EQ(*exit_, Exit(supervise::Signalled{SIGKILL, false}));
  EXPECT_EQ(child->signal_process(SIGKILL), ESRCH);
}

TEST_F(Launcher, AMissingCommandIsAnExecErrorWithItsNumber) {
  LaunchPlan plan = shell("");
  plan.argv = {"/does/not/exist"};
  const auto outcome = launcher_.launch(plan, {});
  const auto* error = std::get_if<LaunchError>(&outcome);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->exit, Exit(supervise::ExecFailed{ENOENT}));
}

TEST_F(Launcher, AFileThatIsNotExecutableIsAnExecError) {
  const test::TempDir dir;
  LaunchPlan plan = shell("");
  plan.argv = {dir.write("x", "no program")};
  ::chmod(plan.argv[0].c_str(), 0644);
  const auto outcome = launcher_.launch(plan, {});
  EXPECT_EQ(std::get<LaunchError>(outcome).exit, Exit(supervise::ExecFailed{EACCES}));
  ::chmod(plan.argv[0].c_str(), 0755);
  const auto again = launcher_.launch(plan, {});
  EXPECT_EQ(std::get<LaunchError>(again).exit, Exit(supervise::ExecFailed{ENOEXEC}));
}

TEST_F(Launcher, AMissingDirectoryNamesTheStep) {
  LaunchPlan plan = shell("");
  plan.working_directory = "/does/not/exist";
  const auto outcome = launcher_.launch(plan, {});
  EXPECT_EQ(std::get<LaunchError>(outcome).exit, Exit(supervise::SpawnFailed{ENOENT, "chdir"}));
}

// Looked at from outside and without a shell: pipelines and directory listings open descriptors of
// their own. A program closes what it opened while starting; what leaked would stay.
TEST_F(Launcher, OnlyTheThreeStandardDescriptorsReachTheChild) {
  const UniqueFd leak(::open("/dev/null", O_RDONLY));  // on purpose not close-on-exec
  LaunchPlan plan = shell("");
  plan.argv = {"/bin/sleep", "60"};
  const auto child = start(plan);
  std::set<std::string> open;
  EXPECT_TRUE(run_until(io_, [&] {
    open.clear();
    const auto directory = "/proc/" + std::to_string(child->pid()) + "/fd";
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      open.insert(entry.path().filename());
    }
    return open == std::set<std::string>{"0", "1", "2"};
  })) << testing::PrintToString(open);
  child->signal_process(SIGKILL);
  EXPECT_TRUE(run_until(io_, [&] { return exit_.has_value(); }));
}

TEST_F(Launcher, SignalsAreResetInTheChild) {
  ::signal(SIGUSR1, SIG_IGN);
  sigset_t blocked;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGUSR2);
  ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
  EXPECT_THAT(output_of(shell("grep -E 'SigBlk|SigIgn' /proc/self/status | cut -f2")),
              testing::ElementsAre("0000000000000000", "0000000000000000"));
}

TEST_F(Launcher, TheEnvironmentIsThatOfThePlanAndItsPid) {
  const auto child = start(shell("echo $COLOUR $FDBPACK_PID $$ $HOME"));
  const int pid = child->pid();
  ASSERT_TRUE(run_until(io_, [&] { return exit_.has_value(); }));
  pump_.drain(*output_);
  const std::string number = std::to_string(pid);
  EXPECT_THAT(lines_, testing::ElementsAre("blue " + number + " " + number));
}

TEST_F(Launcher, EachChildLeadsItsOwnGroup) {
  const auto child = start(shell("sleep 60 & echo up; exec sleep 60"));
  ASSERT_TRUE(run_until(io_, [&] { return !lines_.empty(); }));
  EXPECT_EQ(::getpgid(child->pid()), child->pid());
  EXPECT_EQ(child->signal_process(SIGKILL), 0);
  ASSERT_TRUE(run_until(io_, [&] { return exit_.has_value(); }));
  EXPECT_TRUE(group_lives_);
  EXPECT_TRUE(run_until(io_, [&] { return child->signal_group(SIGKILL) == ESRCH; }));
}

TEST_F(Launcher, UmaskNiceAndLimitsApply) {
  LaunchPlan plan = shell("umask; ulimit -n; nice");
  plan.umask = 0137;
  plan.nice = 5;
  plan.limits = {{RLIMIT_NOFILE, 123, 123}};
  EXPECT_THAT(output_of(plan), testing::ElementsAre("0137", "123", "5"));
}

TEST_F(Launcher, UserGroupAndSupplementaryGroupsApply) {
  if (::geteuid() != 0) GTEST_SKIP() << "changing the user needs root";
  LaunchPlan plan = shell("id -u; id -g; id -G");
  plan.identity = ports::Identity{65534, 65533, {65533, 65532}};
  EXPECT_THAT(output_of(plan), testing::ElementsAre("65534", "65533", "65533 65532"));
}

TEST_F(Launcher, StrangersAreReapedAndOwnChildrenAreNot) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  // The grandchild is orphaned at once and comes to us.
  const auto child = start(shell("sh -c 'exit 3' & exit 5"));
  std::size_t strangers = 0;
  ASSERT_TRUE(run_until(io_, [&] {
    strangers += launcher_.reap_strangers();
    return exit_.has_value() && strangers == 1;
  }));
  EXPECT_EQ(*exit_, Exit(supervise::Exited{5}));
}

TEST_F(Launcher, TheEndOfANonChildIsKnownOrUnknownButReported) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
  // A process whose parent is not us: a grandchild whose parent waits for it.
  const auto parent = start(shell("sh -c 'sleep 60' & echo $!; wait"));
  ASSERT_TRUE(run_until(io_, [&] { return !lines_.empty(); }));
  const int pid = std::stoi(lines_.front());
  std::optional<Exit> end;
  const auto adopted =
      launcher_.adopt(pid, open_pidfd(pid).release(), [&](const Exit& exit, bool) { end = exit; });
  EXPECT_EQ(adopted->signal_process(SIGTERM), 0);
  ASSERT_TRUE(run_until(io_, [&] { return end.has_value(); }));
  EXPECT_THAT(*end, testing::AnyOf(Exit(supervise::Signalled{SIGTERM, false}),
                                   Exit(supervise::UnknownEnd{})));
  parent->signal_group(SIGKILL);
  EXPECT_TRUE(run_until(io_, [&] { return exit_.has_value(); }));
}

TEST_F(Launcher, ADroppedChildIsLeftAlone) {
  int pid = 0;
  {
    const auto child = start(shell("exec sleep 60"));
    pid = child->pid();
  }
  EXPECT_EQ(::kill(pid, 0), 0);
  EXPECT_EQ(::kill(pid, SIGKILL), 0);
  EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
  EXPECT_FALSE(exit_.has_value());
}

}  // namespace
}  // namespace fdbpack::posix
