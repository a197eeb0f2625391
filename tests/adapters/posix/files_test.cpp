// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/files.hpp"

#include "tests/adapters/posix/support.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

namespace fdbpack::posix {
namespace {

TEST(Files, WhatWasReplacedIsReadBack) {
  const test::TempDir dir;
  PosixFiles files;
  ASSERT_TRUE(files.make_directories(dir.path("a/b"), 0700));
  ASSERT_TRUE(files.replace(dir.path("a/b/f"), "one", 0600));
  ASSERT_TRUE(files.replace(dir.path("a/b/f"), "two", 0600));
  EXPECT_EQ(*files.read(dir.path("a/b/f"), 100), "two");
  EXPECT_FALSE(std::filesystem::exists(dir.path("a/b/f.new")));
}

TEST(Files, WhatIsTooLargeMissingOrNoFileIsAnError) {
  const test::TempDir dir;
  PosixFiles files;
  EXPECT_EQ(files.read(dir.path("none"), 100).error().code, ErrorCode::not_found);
  EXPECT_EQ(files.read(dir.write("f", "four"), 3).error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(files.read(dir.path("f"), 4));
  ASSERT_EQ(::mkfifo(dir.path("fifo").c_str(), 0600), 0);
  EXPECT_FALSE(files.read(dir.path("fifo"), 100));
  EXPECT_FALSE(files.read(dir.path(), 100));
}

TEST(Files, AFailedReplacementLeavesTheOldText) {
  const test::TempDir dir;
  PosixFiles files;
  const auto path = dir.write("f", "old");
  std::filesystem::create_directory(path + ".new");  // in the way
  EXPECT_FALSE(files.replace(path, "new", 0600));
  EXPECT_EQ(test::read_file(path), "old");
}

TEST(Files, TheReserveServesWhenNoDescriptorIsLeft) {
  const test::TempDir dir;
  PosixFiles files;
  files.keep_reserve();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const UniqueFd lowest_free(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const rlimit none_left{static_cast<rlim_t>(lowest_free.get()) + 1, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none_left), 0);
  const auto first = files.replace(dir.path("f"), "one", 0600);
  const auto second = files.replace(dir.path("f"), "two", 0600);
  const auto text = files.read(dir.path("f"), 100);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(first) << first.error().message;
  EXPECT_TRUE(second) << second.error().message;
  EXPECT_EQ(text.value_or(""), "two");
}

TEST(Files, KnowsWhatIsOnANetworkFileSystemByTheMounts) {
  constexpr std::string_view kMounts =
      "21 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
      "30 21 0:40 / /opt rw,relatime shared:1 - nfs4 server:/opt rw\n"
      "31 30 8:2 / /opt/local rw - xfs /dev/sdb rw\n"
      "32 21 0:41 / /a\\040b rw - fuse.sshfs x rw\n"
      "33 21 0:42 / /twice rw - nfs x rw\n"
      "34 33 8:3 / /twice rw - ext4 x rw\n";
  EXPECT_EQ(network_file_system(kMounts, "/opt/fdb/fdbserver"), "nfs4 at /opt");
  EXPECT_EQ(network_file_system(kMounts, "/opt/local/fdbserver"), "");
  EXPECT_EQ(network_file_system(kMounts, "/optional/fdbserver"), "");
  EXPECT_EQ(network_file_system(kMounts, "/a b/x"), "fuse.sshfs at /a b");
  EXPECT_EQ(network_file_system(kMounts, "/twice/x"), "");
  EXPECT_EQ(network_file_system("", "/x"), "");
  EXPECT_EQ(PosixFiles().network_file_system("/proc/self/exe"), "");
}

}  // namespace
}  // namespace fdbpack::posix
