// SPDX-License-Identifier: Apache-2.0
//
// Over a /proc made of files. The kernel's own is looked at by the tests of faults 28 and 29.
#include "adapters/posix/holders.hpp"

#include "tests/adapters/posix/support.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace fdbpack::posix {
namespace {

namespace fs = std::filesystem;

class HoldersTest : public testing::Test {
 protected:
  HoldersTest() {
    for (const char* name : {"net", "12/fd", "12/fdinfo"})
      fs::create_directories(dir_.path(name));
    (void)dir_.write("12/comm", "some\x1bthing\n");
    (void)dir_.write("locks", "");
  }

  void listen(const std::string& table, const std::string& address, const std::string& state) {
    (void)dir_.write("net/" + table,
                     "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when\n   0: " +
                         address + " 00000000:0000 " + state +
                         " 00000000:00000000 00:00000000 00000000     0        0 77 1\n");
  }
  void open(const std::string& target) { fs::create_symlink(target, dir_.path("12/fd/3")); }

  // With all its pieces, how many there may be.
  std::optional<ports::Holder> find(ports::Wanted wanted) {
    const auto search = holders_.search(std::move(wanted));
    pieces_ = 1;
    while (!search->advance() && pieces_ < 100000)
      ++pieces_;
    if (!search->result()) return {};
    return search->result()->holder;
  }
  std::optional<ports::Holder> of_port(const std::string& ip, std::uint16_t port) {
    return find({{{ip, port}}, ""});
  }
  std::optional<ports::Holder> of_directory(const std::string& path) { return find({{}, path}); }

  test::TempDir dir_;
  ProcHolders holders_{dir_.path()};
  int pieces_ = 0;
};

TEST_F(HoldersTest, PortIsHeldByWhoHasTheListeningSocket) {
  listen("tcp", "0100007F:1194", "0A");
  open("socket:[77]");
  for (const char* ip : {"127.0.0.1", "0.0.0.0", "::", "auto"}) {
    const auto holder = of_port(ip, 4500);
    ASSERT_TRUE(holder) << ip;
    EXPECT_EQ(holder->pid, 12);
    EXPECT_EQ(holder->name, "some?thing");
  }
  EXPECT_FALSE(of_port("127.0.0.2", 4500)) << "another address of this host";
  EXPECT_FALSE(of_port("127.0.0.1", 4501));
}

TEST_F(HoldersTest, PortIsHeldOnAllAddressesOfTheOtherFamily) {
  listen("tcp6", "00000000000000000000000000000000:1194", "0A");
  open("socket:[77]");
  ASSERT_TRUE(of_port("10.0.0.1", 4500));
  EXPECT_EQ(of_port("10.0.0.1", 4500)->pid, 12);
}

TEST_F(HoldersTest, ConnectionIsNoHolder) {
  listen("tcp", "0100007F:1194", "01");
  open("socket:[77]");
  EXPECT_FALSE(of_port("127.0.0.1", 4500));
}

TEST_F(HoldersTest, HolderThatCannotBeSeenIsStillOne) {
  listen("tcp", "0100007F:1194", "0A");
  const auto holder = of_port("127.0.0.1", 4500);
  ASSERT_TRUE(holder);
  EXPECT_EQ(holder->pid, 0);
}

TEST_F(HoldersTest, DirectoryIsHeldByWhoLockedAFileInItAndNotByWhoReadsIt) {
  fs::create_directory(dir_.path("data"));
  open(dir_.path("data/processId"));
  (void)dir_.write("12/fdinfo/3", "pos:\t0\nflags:\t02\n");
  // Without a pid: it is the lock of an open file.
  (void)dir_.write("locks", "1: OFDLCK ADVISORY  WRITE -1 08:01:5678 0 EOF\n");
  EXPECT_FALSE(of_directory(dir_.path("data")));
  (void)dir_.write("12/fdinfo/3", "pos:\t0\nlock:\t1: OFDLCK ADVISORY WRITE -1 08:01:5678 0 EOF\n");
  const auto holder = of_directory(dir_.path("data"));
  ASSERT_TRUE(holder);
  EXPECT_EQ(holder->pid, 12);
  EXPECT_FALSE(of_directory(dir_.path("dat")));
}

TEST_F(HoldersTest, WithoutProcNobodyIsFound) {
  holders_ = ProcHolders("/nowhere");
  EXPECT_FALSE(of_port("127.0.0.1", 4500));
  EXPECT_FALSE(of_directory("/"));
}

// The agent has other things to do meanwhile.
TEST_F(HoldersTest, ManyDescriptorsAreLookedThroughInPieces) {
  listen("tcp", "0100007F:1194", "0A");
  for (int i = 0; i < 3000; ++i)
    fs::create_symlink("/dev/null", dir_.path("12/fd/" + std::to_string(i + 10)));
  open("socket:[78]");
  const auto holder = of_port("127.0.0.1", 4500);
  ASSERT_TRUE(holder);
  EXPECT_EQ(holder->pid, 0);
  EXPECT_GE(pieces_, 6);
}

TEST_F(HoldersTest, WhereThePortIsFreeTheDirectoryIsLookedAt) {
  fs::create_directory(dir_.path("data"));
  open(dir_.path("data/processId"));
  (void)dir_.write("locks", "1: OFDLCK ADVISORY  WRITE -1 08:01:5678 0 EOF\n");
  (void)dir_.write("12/fdinfo/3", "pos:\t0\nlock:\t1: OFDLCK ADVISORY WRITE -1 08:01:5678 0 EOF\n");
  const auto holder = find({{{"127.0.0.1", 4500}, {"127.0.0.1", 4501}}, dir_.path("data")});
  ASSERT_TRUE(holder);
  EXPECT_EQ(holder->pid, 12);
}

}  // namespace
}  // namespace fdbpack::posix
