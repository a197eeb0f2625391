// SPDX-License-Identifier: Apache-2.0
//
// The modes init and sidecar with real files: k8smonitor_copy/effects and what it leaves open.
#include "tests/launcher/fixture.hpp"
#include "tests/support/goldens.hpp"
#include "tests/support/run_program.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace fdbpack::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class LauncherCopy : public LauncherTest {
 protected:
  LauncherCopy() {
    for (const char* name : {"fdbserver", "fdbbackup", "fdbrestore"}) {
      dir().write(std::string("bin/") + name, std::string("program ") + name);
      fs::permissions(dir().file(std::string("bin/") + name), fs::perms(0755));
    }
    for (const char* version : {"7.1", "7.3", "6.3"}) {
      dir().write("lib/libfdb_c_" + std::string(version) + ".so", version);
    }
    dir().write("version-7.1.43", "7.1.43\n");
  }

  [[nodiscard]] std::vector<std::string> copy_command(std::vector<std::string> more) const {
    std::vector<std::string> argv{"/usr/bin/env",
                                  "TEST_BINARY_DIRECTORY=" + dir().file("bin"),
                                  "TEST_LIBRARY_DIRECTORY=" + dir().file("lib"),
                                  agent_program(),
                                  "launcher",
                                  "--version-file=" + dir().file("version-7.1.43"),
                                  "--input-dir=" + dir().file("conf"),
                                  "--output-dir=" + dir().file("out")};
    argv.insert(argv.end(), more.begin(), more.end());
    return argv;
  }

  // Every file below out/, relative to it.
  [[nodiscard]] std::set<std::string> copied() const {
    std::set<std::string> names;
    if (!fs::exists(dir().file("out"))) return names;
    for (const auto& entry : fs::recursive_directory_iterator(dir().file("out"))) {
      if (entry.is_regular_file()) {
        names.insert(fs::relative(entry.path(), dir().file("out")).string());
      }
    }
    return names;
  }
};

std::vector<std::string> flags_of(const json& effect) {
  std::vector<std::string> flags{"--mode=" + effect.value("mode", "init")};
  for (const std::string name : effect.value("binaries", json::array()))
    flags.push_back("--copy-binary=" + name);
  for (const std::string version : effect.value("libraries", json::array()))
    flags.push_back("--copy-library=" + version);
  if (effect.contains("primary")) {
    flags.push_back("--copy-primary-library=" + effect.at("primary").get<std::string>());
  }
  if (effect.contains("file")) {
    flags.insert(flags.end(), {"--copy-file", "testfile", "--require-not-empty", "testfile"});
  }
  return flags;
}

TEST_F(LauncherCopy, HasTheEffectsOfTheOriginal) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "monitor/k8smonitor_copy");
  const json golden = support::read_golden(folder / "effects.json");
  ASSERT_EQ(golden.at("cases").size(), 6U);
  for (const auto& effect : golden.at("cases")) {
    SCOPED_TRACE(effect.dump());
    fs::remove_all(dir().file("out"));
    const bool is_empty = effect.value("file", "") == "testfile (empty)";
    dir().write("conf/testfile", is_empty ? "" : "Hello World");
    const auto expected = effect.at("creates").get<std::set<std::string>>();
    if (effect.value("mode", "") == "sidecar") {
      const pid_t pid =
          spawn({copy_command(flags_of(effect)), marked_environment(), -1, log_fd(), log_fd()});
      ASSERT_TRUE(wait_for_log("Waiting for process to be terminated"));
      kill(pid, SIGTERM);
      EXPECT_EQ(wait_for_exit(pid), 0);
    } else {
      const auto result = support::run_program(copy_command(flags_of(effect)));
      EXPECT_EQ(result.exit_code, effect.value("error", false) ? 1 : 0) << result.out;
    }
    EXPECT_EQ(copied(), expected);
  }
}

TEST_F(LauncherCopy, KeepsContentAndModeAndReplacesWhatIsThere) {
  dir().write("out/7.1/fdbserver", "an old one");
  fs::permissions(dir().file("bin/fdbserver"), fs::perms(0751));
  const auto result =
      support::run_program(copy_command({"--mode=init", "--copy-binary=fdbserver"}));
  ASSERT_EQ(result.exit_code, 0) << result.out;
  EXPECT_EQ(read_file(dir().file("out/7.1/fdbserver")), "program fdbserver");
  EXPECT_EQ(fs::status(dir().file("out/7.1/fdbserver")).permissions(), fs::perms(0751));
}

TEST_F(LauncherCopy, RemovesWhatAKilledOneLeft) {
  dir().write("out/7.1/.fdbpack-tmp.fdbserver.aB3dE9", "half a prog");
  dir().write("out/7.1/.fdbpack-tmp.other.aB3dE9", "another's");
  const auto result =
      support::run_program(copy_command({"--mode=init", "--copy-binary=fdbserver"}));
  ASSERT_EQ(result.exit_code, 0) << result.out;
  EXPECT_EQ(read_file(dir().file("out/7.1/fdbserver")), "program fdbserver");
  EXPECT_FALSE(fs::exists(dir().file("out/7.1/.fdbpack-tmp.fdbserver.aB3dE9")));
  EXPECT_TRUE(fs::exists(dir().file("out/7.1/.fdbpack-tmp.other.aB3dE9")));
}

TEST_F(LauncherCopy, LeavesNothingBehindWhenItFails) {
  const auto result = support::run_program(
      copy_command({"--mode=init", "--copy-file=missing", "--copy-binary=fdbserver"}));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.out.find("missing"), std::string::npos);
  const auto unlisted = support::run_program(
      copy_command({"--mode=init", "--require-not-empty=x", "--copy-binary=fdbserver"}));
  EXPECT_EQ(unlisted.exit_code, 1);
  EXPECT_NE(unlisted.out.find("file x is required, but is not in the --copy-file list"),
            std::string::npos);
  for (const std::string& name : copied())
    EXPECT_EQ(name, "7.1/fdbserver");
}

TEST_F(LauncherCopy, CopiesNothingAsSidecarOfItsOwnVersion) {
  const pid_t pid = spawn({copy_command({"--mode=sidecar", "--copy-binary=fdbserver",
                                         "--main-container-version=7.1.43"}),
                           marked_environment(), -1, log_fd(), log_fd()});
  ASSERT_TRUE(wait_for_log("Waiting for process to be terminated"));
  EXPECT_TRUE(copied().empty());
  kill(pid, SIGINT);
  EXPECT_EQ(wait_for_exit(pid), 0);
}

TEST_F(LauncherCopy, AddsListsFromVariablesToThoseOfTheCommandLine) {
  auto argv = copy_command({"--mode=init", "--copy-binary=fdbserver"});
  argv.insert(argv.begin() + 1, "COPY_BINARY=fdbbackup");
  EXPECT_EQ(support::run_program(argv).exit_code, 0);
  EXPECT_EQ(copied(), (std::set<std::string>{"7.1/fdbbackup", "7.1/fdbserver"}));
}

TEST_F(LauncherCopy, RefusesUnknownModesAndFlags) {
  EXPECT_EQ(support::run_program(copy_command({"--mode=other"})).exit_code, 1);
  EXPECT_EQ(support::run_program(copy_command({"--no-such-flag"})).exit_code, 2);
  EXPECT_EQ(support::run_program(copy_command({"--help"})).exit_code, 0);
}

}  // namespace
}  // namespace fdbpack::test
