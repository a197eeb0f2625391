// SPDX-License-Identifier: Apache-2.0
//
// Conditions as real processes bring them about, and how they end.
#include "tests/agent/fixture.hpp"

namespace fdbpack::agent {
namespace {

class HostConditions : public WithAgent {
 protected:
  [[nodiscard]] bool is_active(conditions::Type type) {
    for (const auto& one : instance_->agent->host().conditions()) {
      if (one.type == type && one.is_active) return true;
    }
    return false;
  }
};

// Three times it ends for its disk's sake, then it runs.
TEST_F(HostConditions, EndWhenTheProcessRunsWell) {
  const std::string count = dir_.path("count");
  write_conf("restart-delay = 0\n[x.1]\ncommand = " +
             script("three", "echo >> " + count + "; if [ $(wc -l < " + count +
                                 ") -le 3 ]; then echo io_error; exit 1; fi; exec sleep 600") +
             "\n");
  start();
  ASSERT_TRUE(wait([&] {
    return is_active(conditions::Type::crash_looping) &&
           is_active(conditions::Type::process_io_error);
  }));
  const auto is_over = [&] {
    return !is_active(conditions::Type::crash_looping) &&
           !is_active(conditions::Type::process_io_error);
  };
  // A run of ten seconds is what it takes, a little more than one wait lasts.
  EXPECT_TRUE(wait(is_over) || wait(is_over));
  EXPECT_EQ(phase("x.1"), "running");
  EXPECT_GE(instance_->clock.now() - supervise::describe(process("x.1")->state).since,
            supervise::kQuickDeathBelow);
}

TEST_F(HostConditions, AProcessThatSomebodyKilledHasNoFailedDisk) {
  write_conf("[x.1]\ncommand = " + script("says", "echo io_error; exec sleep 600") + "\n");
  start();
  ASSERT_TRUE(wait([&] { return process("x.1") != nullptr && process("x.1")->disk_failure; }));
  const int before = pid("x.1");
  ::kill(before, SIGKILL);
  (void)status([](const auto& json) { return json["processes"]["x.1"].value("restarts", 0) == 1; });
  EXPECT_NE(pid("x.1"), before);
  EXPECT_FALSE(is_active(conditions::Type::process_io_error));
}

}  // namespace
}  // namespace fdbpack::agent
