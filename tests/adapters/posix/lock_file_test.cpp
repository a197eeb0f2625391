// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/lock_file.hpp"

#include "tests/adapters/posix/support.hpp"

#include <gmock/gmock.h>

#include <sys/wait.h>

#include <future>

namespace fdbpack::posix {
namespace {

TEST(LockFile, ASecondHolderIsRefusedAtOnceAndToldWho) {
  const test::TempDir dir;
  auto first = LockFile::acquire(dir.path("run/x.pid"));
  ASSERT_TRUE(first);
  ASSERT_TRUE(first->write_pid(::getpid()));
  const auto second = LockFile::acquire(dir.path("run/x.pid"));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::already_exists);
  EXPECT_THAT(second.error().message, testing::HasSubstr(std::to_string(::getpid())));
}

// A pid that is nobody's any more, and cannot be used anew while the zombie is there.
class ZombieProcess {
 public:
  ZombieProcess() : pid_(::fork()) {
    if (pid_ == 0) ::_exit(0);
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
  ~ZombieProcess() { ::waitpid(pid_, nullptr, 0); }
  ZombieProcess(const ZombieProcess&) = delete;
  ZombieProcess& operator=(const ZombieProcess&) = delete;
  [[nodiscard]] int pid() const { return pid_; }

 private:
  pid_t pid_;
};

// What a child of a killed agent still holds until it has executed its own program.
TEST(LockFile, OneHeldInTheNameOfADeadProcessComesFree) {
  const test::TempDir dir;
  const ZombieProcess dead;
  auto first = LockFile::acquire(dir.path("x.pid"));
  ASSERT_TRUE(first);
  ASSERT_TRUE(first->write_pid(dead.pid()));
  auto second = std::async(std::launch::async, [&] {
    return LockFile::acquire(dir.path("x.pid"), std::chrono::minutes(1)).has_value();
  });
  EXPECT_EQ(second.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  { const LockFile gone = *std::move(first); }
  EXPECT_TRUE(second.get());
}

TEST(LockFile, TheWaitForADeadHolderIsBounded) {
  const test::TempDir dir;
  const ZombieProcess dead;
  auto first = LockFile::acquire(dir.path("x.pid"));
  ASSERT_TRUE(first);
  ASSERT_TRUE(first->write_pid(dead.pid()));
  const auto second = LockFile::acquire(dir.path("x.pid"), std::chrono::milliseconds(30));
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, testing::HasSubstr(std::to_string(dead.pid())));
}

// However patient: this would take a day.
TEST(LockFile, OneHeldByALivingProcessIsRefusedAtOnce) {
  const test::TempDir dir;
  auto first = LockFile::acquire(dir.path("x.pid"));
  ASSERT_TRUE(first);
  ASSERT_TRUE(first->write_pid(::getppid()));
  EXPECT_FALSE(LockFile::acquire(dir.path("x.pid"), std::chrono::hours(24)));
}

TEST(LockFile, WhatWasInAStaleFileIsGone) {
  const test::TempDir dir;
  auto lock = LockFile::acquire(dir.write("x.pid", "123456789 and a long tail\n"));
  ASSERT_TRUE(lock);
  ASSERT_TRUE(lock->write_pid(7));
  EXPECT_EQ(test::read_file(dir.path("x.pid")), "7\n");
}

TEST(LockFile, AfterRemovalTheNextOneLocksANewFile) {
  const test::TempDir dir;
  auto first = LockFile::acquire(dir.path("x.pid"));
  ASSERT_TRUE(first);
  first->remove();
  EXPECT_FALSE(std::filesystem::exists(dir.path("x.pid")));
  auto second = LockFile::acquire(dir.path("x.pid"));
  ASSERT_TRUE(second);
  first->remove();  // it is not its file any more
  EXPECT_TRUE(std::filesystem::exists(dir.path("x.pid")));
}

}  // namespace
}  // namespace fdbpack::posix
