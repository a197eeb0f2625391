// SPDX-License-Identifier: Apache-2.0
//
// Over a tree made of files. The kernel's own is looked at by the tests of fault 24.
#include "adapters/posix/cgroups.hpp"

#include "tests/adapters/posix/support.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace fdbpack::posix {
namespace {

class CgroupsTest : public testing::Test {
 protected:
  CgroupsTest() {
    std::filesystem::create_directories(dir_.path("agent"));
    (void)dir_.write("agent/cgroup.procs", "");
    (void)dir_.write("cgroup.subtree_control", "");
  }

  test::TempDir dir_;
};

TEST_F(CgroupsTest, CountsWhomTheKernelKilledForMemory) {
  DelegatedCgroups cgroups(dir_.path());
  EXPECT_EQ(cgroups.degraded(), "");
  EXPECT_EQ(cgroups.prepare("s.1"), dir_.path("p-s.1"));
  EXPECT_FALSE(cgroups.oom_kills("s.1")) << "no memory controller";
  (void)dir_.write("p-s.1/memory.events", "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\n");
  EXPECT_EQ(cgroups.oom_kills("s.1"), 2u);
}

TEST_F(CgroupsTest, KnowsWhoIsInAGroup) {
  DelegatedCgroups cgroups(dir_.path());
  EXPECT_EQ(cgroups.find("s.1", 71), "") << "there is none";
  (void)cgroups.prepare("s.1");
  (void)dir_.write("p-s.1/cgroup.procs", "7\n71\n");
  EXPECT_EQ(cgroups.find("s.1", 71), dir_.path("p-s.1"));
  EXPECT_EQ(cgroups.find("s.1", 1), "");
  DelegatedCgroups off("off");
  EXPECT_EQ(off.find("s.1", 71), "");
}

}  // namespace
}  // namespace fdbpack::posix
