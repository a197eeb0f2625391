// SPDX-License-Identifier: Apache-2.0
#include "tests/agent/fixture.hpp"

namespace fdbpack::agent {
namespace {

using testing::HasSubstr;

// Every process is in a group, in which memory ran out as often as the test says.
class OneGroup final : public ports::Cgroups {
 public:
  [[nodiscard]] std::string prepare(const std::string&) override { return {}; }
  [[nodiscard]] std::string find(const std::string&, int) override { return "/group"; }
  [[nodiscard]] std::optional<std::uint64_t> oom_kills(const std::string&) override {
    return kills;
  }
  void remove(const std::string&) override {}
  [[nodiscard]] std::string degraded() const override { return {}; }

  std::uint64_t kills = 4;
};

class Adoption : public WithAgent {
 protected:
  void SetUp() override {
    write_conf("[x]\ncommand = " +
               script("talk", "echo begin; read line < " + dir_.path("go") +
                                  "; echo $line; exec sleep 600") +
               "\n[x.1]\n[x.2]\n");
    ASSERT_EQ(::mkfifo(dir_.path("go").c_str(), 0600), 0);
    start();
    ASSERT_TRUE(wait_running("x.1"));
    ASSERT_TRUE(wait_running("x.2"));
    first_ = pid("x.1");
    second_ = pid("x.2");
    (void)status([](const auto& json) { return json["processes"].size() == 2; });
  }
  void TearDown() override { end(); }
  void expect_adopted() {
    EXPECT_EQ(pid("x.1"), first_);
    EXPECT_EQ(pid("x.2"), second_);
    const auto page = status(
        [](const auto& json) { return json["processes"]["x.1"].value("adopted", false) == true; });
    EXPECT_EQ(page["processes"]["x.2"]["adopted"], true);
  }

  OneGroup group_;
  int first_ = 0;
  int second_ = 0;
};

TEST_F(Adoption, TheNextAgentTakesOverAndCountsOn) {
  crash();
  start();
  expect_adopted();
  ::kill(first_, SIGKILL);
  ASSERT_TRUE(wait([&] { return pid("x.1") != first_ && phase("x.1") == "running"; }));
  EXPECT_EQ(pid("x.2"), second_);
}

TEST_F(Adoption, TheCauseOfADeathIsStillToldByTheCgroup) {
  crash();
  cgroups_ = &group_;
  start();
  expect_adopted();
  group_.kills = 5;
  ::kill(first_, SIGKILL);
  const auto page =
      status([](const auto& json) { return json["processes"]["x.1"].contains("last_exit"); });
  EXPECT_EQ(page["processes"]["x.1"]["last_exit"]["cause"], "oom");
}

TEST_F(Adoption, ALostStateFileDoesNotMatter) {
  crash();
  std::filesystem::remove_all(dir_.path("state"));
  start();
  expect_adopted();
}

TEST_F(Adoption, ATornStateFileIsIgnoredWithTheReason) {
  const auto text = test::read_file(dir_.path("state/state.json"));
  crash();
  (void)dir_.write("state/state.json", text.substr(0, text.size() / 2));
  start();
  expect_adopted();
  EXPECT_TRUE(is_logged("The recorded state is ignored: it is not complete JSON"));
}

TEST_F(Adoption, AStateFileOfAnotherBootIsIgnored) {
  auto json = nlohmann::json::parse(test::read_file(dir_.path("state/state.json")));
  crash();
  json["boot_id"] = "another";
  (void)dir_.write("state/state.json", json.dump());
  start();
  expect_adopted();
  EXPECT_TRUE(is_logged("it is from another boot"));
}

TEST_F(Adoption, OutputWrittenMeanwhileIsReadByTheNextAgent) {
  ASSERT_TRUE(wait([&] { return is_logged("x.1: begin") && is_logged("x.2: begin"); }));
  crash();
  log_.lines.clear();
  std::ofstream(dir_.path("go")) << "meanwhile" << std::endl;
  start();
  ASSERT_TRUE(
      wait([&] { return is_logged("10 x.1: meanwhile") || is_logged("10 x.2: meanwhile"); }));
  EXPECT_FALSE(is_logged("begin"));
}

TEST_F(Adoption, AProcessThatDiedMeanwhileIsStarted) {
  crash();
  ::kill(first_, SIGKILL);
  ASSERT_EQ(::waitpid(first_, nullptr, 0), first_);
  start();
  ASSERT_TRUE(wait_running("x.1"));
  EXPECT_NE(pid("x.1"), first_);
  EXPECT_EQ(pid("x.2"), second_);
}

TEST_F(Adoption, ABrokenConfMeanwhileTouchesNobody) {
  crash();
  (void)dir_.write("f.conf", "");
  start();
  EXPECT_EQ(pid("x.1"), first_);
  EXPECT_EQ(pid("x.2"), second_);
  (void)status([](const auto& json) { return json["conf"].value("accepted", true) == false; });
}

TEST_F(Adoption, AUserThatIsGoneMeanwhileDoesNotMakeProcessesTheAgents) {
  crash();
  write_conf("[fdbmonitor]\nuser = no-such-user\n[y.1]\ncommand = " + sleeper() + "\n");
  (void)dir_.write("state/last-good.conf", test::read_file(dir_.path("f.conf")));
  log_.lines.clear();
  start();
  ASSERT_TRUE(wait([&] { return phase("y.1") == "waiting"; }));
  EXPECT_FALSE(is_logged("Launching"));
}

TEST_F(Adoption, AChangedCommandLineMeanwhileIsCarriedOut) {
  crash();
  write_conf("[x]\ncommand = " + sleeper() + "\n[x.1]\n[x.2]\n");
  start();
  ASSERT_TRUE(wait([&] {
    return pid("x.1") != first_ && pid("x.2") != second_ && phase("x.1") == "running" &&
           phase("x.2") == "running";
  }));
}

}  // namespace
}  // namespace fdbpack::agent
