// SPDX-License-Identifier: Apache-2.0
#include "tests/agent/fixture.hpp"

namespace fdbpack::agent {
namespace {

using testing::Contains;
using testing::HasSubstr;

class ConfChange : public WithAgent {
 protected:
  void SetUp() override {
    command_ = "command = " + sleeper() + "\n";
    write_conf("[x]\n" + command_ + "[x.1]\n[x.2]\n");
    start();
    ASSERT_TRUE(wait_running("x.1"));
    ASSERT_TRUE(wait_running("x.2"));
    first_ = pid("x.1");
    second_ = pid("x.2");
  }
  void expect_untouched() {
    EXPECT_EQ(pid("x.1"), first_);
    EXPECT_EQ(pid("x.2"), second_);
  }
  nlohmann::json refused() {
    return status([](const auto& json) { return json["conf"].value("accepted", true) == false; });
  }

  std::string command_;
  int first_ = 0;
  int second_ = 0;
};

TEST_F(ConfChange, OnlyWhatChangedIsRestarted) {
  write_conf("[x]\n" + command_ + "[x.1]\n[x.2]\nflavour = sour\n");
  ASSERT_TRUE(wait([&] { return pid("x.2") != second_ && phase("x.2") == "running"; }));
  EXPECT_EQ(pid("x.1"), first_);
  EXPECT_THAT(log_.lines, Contains("10 fdbmonitor: Found new configuration for x.2"));
}

TEST_F(ConfChange, WhatIsRemovedIsStoppedAndWhatIsNewIsStarted) {
  write_conf("[x]\n" + command_ + "[x.1]\n[x.3]\n");
  ASSERT_TRUE(wait_running("x.3"));
  ASSERT_TRUE(wait([&] { return process("x.2") == nullptr; }));
  EXPECT_EQ(pid("x.1"), first_);
  EXPECT_THAT(log_.lines, Contains("10 fdbmonitor: Deconfigured x.2"));
}

TEST_F(ConfChange, AnEmptyFileTouchesNothing) {
  (void)dir_.write("f.conf", "");
  EXPECT_FALSE(refused()["conf"]["errors"].empty());
  expect_untouched();
}

TEST_F(ConfChange, AMissingFileTouchesNothingAndItsReturnIsNoticed) {
  std::filesystem::remove(dir_.path("f.conf"));
  (void)refused();
  expect_untouched();
  write_conf("[x]\n" + command_ + "[x.1]\n[x.2]\n[x.3]\n");
  ASSERT_TRUE(wait_running("x.3"));
  expect_untouched();
}

TEST_F(ConfChange, GarbageTouchesNothingAndItsLineIsShown) {
  (void)dir_.write("f.conf", "[general]\nrestart-delay = 60\n[x\n" + command_);
  const auto page = refused();
  EXPECT_EQ(page["conf"]["errors"][0]["line"], 3);
  expect_untouched();
}

TEST_F(ConfChange, AnUnknownUserTouchesNothing) {
  write_conf("[fdbmonitor]\nuser = nobody-of-this-name\n[x]\n" + command_ + "[x.1]\n");
  EXPECT_THAT(refused()["conf"]["errors"].dump(), HasSubstr("nobody-of-this-name"));
  expect_untouched();
}

TEST_F(ConfChange, WithoutKillOnChangeItWaitsForTheNextStartAndCanBeSeen) {
  const std::string keep = "kill_on_configuration_change = false\n";
  write_conf("[x]\n" + command_ + keep + "[x.1]\n[x.2]\n");
  ASSERT_TRUE(wait([&] { return !process("x.2")->kill_on_change; }));
  write_conf("[x]\n" + command_ + keep + "[x.1]\n[x.2]\nflavour = sour\n");
  const auto page = status([](const auto& json) {
    return json["processes"]["x.2"].value("pending_change", "") == "command";
  });
  EXPECT_NE(page["processes"]["x.2"]["argv"], page["processes"]["x.2"]["running_argv"]);
  expect_untouched();
  ::kill(second_, SIGKILL);
  const auto after = status([](const auto& json) {
    return json["processes"]["x.2"].value("pending_change", "") == "none";
  });
  EXPECT_THAT(after["processes"]["x.2"]["argv"].dump(), HasSubstr("--flavour=sour"));
}

TEST_F(ConfChange, AChangeDuringTheRestartDelayStartsAtOnceWithTheNewCommandLine) {
  write_conf("[x]\n" + command_ + "[x.1]\n[x.2]\n[y.1]\ncommand = " + script("no", "exit 1") +
             "\n");
  ASSERT_TRUE(wait([&] { return phase("y.1") == "waiting"; }));
  write_conf("[x]\n" + command_ + "[x.1]\n[x.2]\n[y.1]\n" + command_);
  ASSERT_TRUE(wait_running("y.1"));
}

TEST_F(ConfChange, SighupReadsTheFileAndTouchesNobody) {
  instance_->agent->on_signal(SIGHUP);
  EXPECT_TRUE(is_logged("Received signal 1 (Hangup), resetting timeouts"));
  expect_untouched();
}

}  // namespace
}  // namespace fdbpack::agent
