// SPDX-License-Identifier: Apache-2.0
//
// What happens to a conf while it is edited, synchronised, broken and lost. None of it may touch a
// process.
#include "tests/support/agent_fixture.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

namespace fdbpack::test {
namespace {

namespace fs = std::filesystem;

class ConfFault : public AgentTest {
 protected:
  void start_four() {
    write_conf(four());
    start_agent();
    ASSERT_TRUE(wait([&] { return stamps().size() == 4; }));
    before_ = living();
    ASSERT_EQ(before_.size(), 4u);
  }

  [[nodiscard]] static std::vector<Section> four() {
    return {{"1", ""}, {"2", ""}, {"3", ""}, {"4", ""}};
  }

  // The fault was seen and survived, and afterwards a good conf with a fifth process counts.
  void expect_untouched_then_healed() {
    EXPECT_EQ(stamps().size(), 4u);
    EXPECT_EQ(living(), before_);
    auto sections = four();
    sections.push_back({"5", ""});
    write_conf(sections);
    ASSERT_TRUE(wait_for_starts("5", 1));
    EXPECT_EQ(stamps().size(), 5u);
    EXPECT_EQ(living().size(), 5u);
  }

  std::vector<std::string> before_;
};

class Fault06 : public ConfFault {};
class Fault07 : public ConfFault {};
class Fault08 : public ConfFault {};
class Fault09 : public ConfFault {};
class Fault10 : public AgentTest {};
class Fault37 : public ConfFault {};
class Fault38 : public ConfFault {};
class Fault39 : public ConfFault {};

TEST_F(Fault06, ConfTruncatedToNothingTouchesNoProcess) {
  ASSERT_NO_FATAL_FAILURE(start_four());
  const std::size_t from = log_size();
  write_file(conf_path(), "");
  ASSERT_TRUE(wait_for_log("Severity=\"40\"", from)) << "an empty conf must be complained about";
  expect_untouched_then_healed();
}

TEST_F(Fault07, HalfWrittenConfTouchesNoProcess) {
  ASSERT_NO_FATAL_FAILURE(start_four());
  const std::string whole = read_file(conf_path());
  const std::size_t from = log_size();
  // Cut within a word of [child]: every process would get another command line.
  write_file(conf_path(), whole.substr(0, whole.find("stamp = ") + 12));
  ASSERT_TRUE(wait_for_log("Severity=\"40\"", from));
  expect_untouched_then_healed();
}

TEST_F(Fault07, ConfCutInTheMiddleOfASectionNameTouchesNoProcess) {
  ASSERT_NO_FATAL_FAILURE(start_four());
  const std::string whole = read_file(conf_path());
  const std::size_t from = log_size();
  write_file(conf_path(), whole.substr(0, whole.find("[child.3]") + 4));
  ASSERT_TRUE(wait_for_log("Severity=\"40\"", from));
  expect_untouched_then_healed();
}

// A full disk may cut a file anywhere, also where a section ends: it looks like a removal.
TEST_F(Fault07, ConfCutBetweenTwoSectionsTouchesNoProcess) {
  ASSERT_NO_FATAL_FAILURE(start_four());
  const std::string whole = read_file(conf_path());
  const std::size_t from = log_size();
  write_file(conf_path(), whole.substr(0, whole.find("[child.3]")));
  ASSERT_TRUE(wait_for_log("ends before [child.3]", from));
  EXPECT_TRUE(wait([&] {
    const auto shown = status().value("conf", nlohmann::json::object());
    return !shown.value("accepted", true) && shown["errors"][0].value("line", 0) == 9;
  })) << status();
  expect_untouched_then_healed();
}

// Somebody who means it says so, by SIGHUP or by a line that was not there before.
TEST_F(Fault07, RemovalOfTheLastSectionsIsConfirmedBySighup) {
  ASSERT_NO_FATAL_FAILURE(start_four());
  const std::size_t from = log_size();
  write_conf({{"1", ""}, {"2", ""}, {"3", ""}});
  ASSERT_TRUE(wait_for_log("ends before [child.4]", from));
  EXPECT_EQ(living(), before_);
  signal_agent(SIGHUP);
  EXPECT_TRUE(wait([&] { return living() == std::vector<std::string>{"1", "2", "3"}; }));
  replace_file(conf_path(), conf({{"1", ""}, {"2", ""}}) + "# 3 is gone\n");
  EXPECT_TRUE(wait([&] { return living() == std::vector<std::string>{"1", "2"}; }));
  EXPECT_EQ(stamps().size(), 4u);
}

// A writer that takes its time: the file is open, and a part of it is on disk already.
TEST_F(Fault07, ConfThatIsStillBeingWrittenIsLeftAlone) {
  ASSERT_NO_FATAL_FAILURE(start_four());
  const std::string whole = conf({{"1", ""}, {"2", ""}, {"3", ""}, {"4", ""}, {"5", ""}});
  const std::size_t half = whole.find("[child.3]");
  const int fd = open(conf_path().c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(write(fd, whole.data(), half), static_cast<ssize_t>(half));
  // Cut before a header, it is a conf that would remove two processes. Longer than any debounce.
  EXPECT_FALSE(wait([&] { return living() != before_; }, Seconds(1.5)));
  ASSERT_EQ(write(fd, whole.data() + half, whole.size() - half),
            static_cast<ssize_t>(whole.size() - half));
  close(fd);
  ASSERT_TRUE(wait_for_starts("5", 1));
  EXPECT_EQ(stamps().size(), 5u);
}

TEST_F(Fault08, GarbageInTheConfTouchesNoProcessAndIsSaidWithItsLine) {
  ASSERT_NO_FATAL_FAILURE(start_four());
  const std::size_t from = log_size();
  replace_file(conf_path(), "one\ntwo\n\x01\x02\xff garbage\n[unterminated\nkey value\n");
  ASSERT_TRUE(wait_for_log("Severity=\"40\"", from));
  EXPECT_TRUE(wait([&] {
    const auto shown = status().value("conf", nlohmann::json::object());
    return !shown.value("accepted", true) && !shown["errors"].empty() &&
           shown["errors"][0].value("line", 0) > 0;
  })) << status();
  expect_untouched_then_healed();
}

TEST_F(Fault08, BadValueInOneSectionTouchesNoProcess) {
  ASSERT_NO_FATAL_FAILURE(start_four());
  const std::size_t from = log_size();
  write_conf({{"1", ""}, {"2", "flag_x = maybe\n"}, {"3", "restart_delay = soon\n"}, {"4", ""}});
  ASSERT_TRUE(wait_for_log("Severity=\"40\"", from));
  expect_untouched_then_healed();
}

TEST_F(Fault08, ConfThatCannotBeReadTouchesNoProcess) {
  ASSERT_NO_FATAL_FAILURE(start_four());
  const std::size_t from = log_size();
  fs::rename(conf_path(), dir().file("kept"));
  fs::create_directory(conf_path());
  ASSERT_TRUE(wait_for_log("Severity=\"40\"", from));
  EXPECT_EQ(living(), before_);
  fs::remove(conf_path());
  expect_untouched_then_healed();
}

TEST_F(Fault09, ConfRenamedAwayTouchesNoProcess) {
  ASSERT_NO_FATAL_FAILURE(start_four());
  const std::size_t from = log_size();
  fs::rename(conf_path(), dir().file("elsewhere"));
  ASSERT_TRUE(wait([&] { return log_size() > from; })) << "it must be said";
  EXPECT_EQ(living(), before_);
  // A child that dies meanwhile is restarted with the last good conf.
  ASSERT_TRUE(Pidfd(last_pid("1")).send(SIGKILL));
  ASSERT_TRUE(wait_for_starts("1", 2));
  fs::rename(dir().file("elsewhere"), conf_path());
  auto sections = four();
  sections.push_back({"5", ""});
  write_conf(sections);
  ASSERT_TRUE(wait_for_starts("5", 1));
  EXPECT_EQ(stamps().size(), 6u);
}

// ..data -> ..2026_1/, foundationdb.conf -> ..data/foundationdb.conf, and the kubelet removes the
// old folder after the flip.
TEST_F(Fault10, ConfigMapFlipIsAppliedAndTheOldFolderMayVanish) {
  const auto write_version = [&](const std::string& name, const std::vector<Section>& sections) {
    fs::create_directory(dir().file(name));
    write_file(dir().file(name + "/foundationdb.conf"), conf(sections));
  };
  write_version("..2026_1", {{"1", ""}, {"2", ""}});
  fs::create_directory_symlink("..2026_1", dir().file("..data"));
  fs::create_symlink("..data/foundationdb.conf", conf_path());
  start_agent();
  ASSERT_TRUE(wait([&] { return stamps().size() == 2; }));
  for (int version = 2; version <= 4; ++version) {
    const std::string name = "..2026_" + std::to_string(version);
    std::vector<Section> sections = {{"1", ""}, {"2", ""}};
    for (int i = 3; i <= version + 1; ++i)
      sections.push_back({std::to_string(i), ""});
    write_version(name, sections);
    fs::create_directory_symlink(name, dir().file("..data_tmp"));
    fs::rename(dir().file("..data_tmp"), dir().file("..data"));
    fs::remove_all(dir().file("..2026_" + std::to_string(version - 1)));
    ASSERT_TRUE(wait_for_starts(std::to_string(version + 1), 1)) << "flip to " << name;
  }
  EXPECT_EQ(stamps().size(), 5u) << "nobody was restarted";
  EXPECT_EQ(living().size(), 5u);
}

TEST_F(Fault37, SighupStormWithTwoWritersEndsWithTheLastConf) {
  ASSERT_NO_FATAL_FAILURE(start_four());
  std::thread writer([&] {
    for (int i = 0; i < 50; ++i) {
      auto sections = four();
      sections.push_back({"x" + std::to_string(i % 3), ""});
      write_file(dir().file("other"), conf(sections));
      fs::rename(dir().file("other"), conf_path());
    }
  });
  for (int i = 0; i < 200; ++i)
    signal_agent(SIGHUP);
  writer.join();
  auto sections = four();
  sections.push_back({"last", ""});
  write_conf(sections);
  for (int i = 0; i < 50; ++i)
    signal_agent(SIGHUP);
  ASSERT_TRUE(wait_for_starts("last", 1));
  EXPECT_TRUE(wait([&] {
    return living() == std::vector<std::string>{"1", "2", "3", "4", "last"};
  }));
  for (const Section& section : four())
    EXPECT_EQ(starts(section.id), 1u) << section.id;
  EXPECT_EQ(doubles(), 0u);
}

TEST_F(Fault38, OnlyTheProcessThatChangedIsTouched) {
  ASSERT_NO_FATAL_FAILURE(start_four());
  const pid_t second = last_pid("2");
  write_conf({{"1", ""}, {"2", "class = storage\n"}, {"4", ""}, {"5", ""}});
  ASSERT_TRUE(wait_for_starts("2", 2));
  ASSERT_TRUE(wait_for_starts("5", 1));
  EXPECT_TRUE(wait([&] { return living() == std::vector<std::string>{"1", "2", "4", "5"}; }));
  EXPECT_NE(last_pid("2"), second);
  EXPECT_EQ(starts("1"), 1u);
  EXPECT_EQ(starts("4"), 1u);
  EXPECT_EQ(doubles(), 0u);
}

TEST_F(Fault38, WithoutKillOnConfigurationChangeANewCommandLineWaitsForTheNextStart) {
  const std::string general = "restart_delay = 60\nkill_on_configuration_change = false\n";
  write_conf({{"a", ""}, {"b", ""}}, general);
  start_agent();
  ASSERT_TRUE(wait([&] { return stamps().size() == 2; }));
  const std::size_t from = log_size();
  write_conf({{"a", "class = log\n"}}, general);
  ASSERT_TRUE(wait_for_log("Found new configuration for child.a", from));
  ASSERT_TRUE(wait_for_log("Deconfigured child.b", from));
  EXPECT_EQ(living(), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(wait([&] { return status_of("child.a").value("pending_change", "") == "command"; }))
      << status_of("child.a");
  const pid_t last_of_b = last_pid("b");
  ASSERT_TRUE(Pidfd(last_pid("a")).send(SIGKILL));
  ASSERT_TRUE(Pidfd(last_of_b).send(SIGKILL));
  ASSERT_TRUE(wait_for_starts("a", 2));
  const std::string arguments = read_file("/proc/" + std::to_string(last_pid("a")) + "/cmdline");
  EXPECT_NE(arguments.find("--class=log"), std::string::npos);
  EXPECT_TRUE(wait([&] { return living() == std::vector<std::string>{"a"}; }));
  EXPECT_EQ(starts("b"), 1u) << "it left the conf: its end is its end";
}

TEST_F(Fault38, SectionThatWasWrongStartsWhenItIsRight) {
  write_conf({{"a", ""}, {"b", "restart_backoff = 0.5\n"}});
  start_agent();
  ASSERT_TRUE(wait_for_starts("a", 1));
  ASSERT_TRUE(wait_for_log("child.b"));
  EXPECT_EQ(starts("b"), 0u);
  write_conf({{"a", ""}, {"b", "restart_backoff = 1.5\n"}});
  EXPECT_TRUE(wait_for_starts("b", 1));
  EXPECT_EQ(starts("a"), 1u);
}

TEST_F(Fault39, WatchedFolderThatIsDeletedAndMadeAnewIsFollowed) {
  const std::string folder = dir().file("etc/deep");
  fs::create_directories(folder);
  write_file(folder + "/conf", conf(four()));
  fs::create_symlink(folder + "/conf", conf_path());
  start_agent();
  ASSERT_TRUE(wait([&] { return stamps().size() == 4; }));
  before_ = living();
  const std::size_t from = log_size();
  fs::remove_all(dir().file("etc"));
  ASSERT_TRUE(wait([&] { return log_size() > from; }));
  EXPECT_EQ(living(), before_);
  fs::create_directories(folder);
  auto sections = four();
  sections.push_back({"5", ""});
  replace_file(folder + "/conf", conf(sections));
  ASSERT_TRUE(wait_for_starts("5", 1));
  EXPECT_EQ(stamps().size(), 5u);
}

TEST_F(Fault39, WithoutInotifyChangesAreFoundByLooking) {
  if (run_to_end({"unshare", "-Ur", "true"}) != 0) {
    GTEST_SKIP() << "needs a user namespace, to have no inotify instances left";
  }
  write_conf(four());
  AgentOptions options;
  options.prefix = {
      "unshare", "-Ur", "sh", "-c", "echo 0 >/proc/sys/user/max_inotify_instances && exec \"$@\"",
      "sh"};
  start_agent(options);
  ASSERT_TRUE(wait([&] { return stamps().size() == 4; }));
  auto sections = four();
  sections.push_back({"5", ""});
  write_conf(sections);
  ASSERT_TRUE(wait_for_starts("5", 1, Seconds(30)));
  EXPECT_EQ(stamps().size(), 5u);
}

}  // namespace
}  // namespace fdbpack::test
