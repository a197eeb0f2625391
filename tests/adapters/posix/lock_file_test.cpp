// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/lock_file.hpp"

#include "tests/adapters/posix/support.hpp"

#include <gmock/gmock.h>

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
