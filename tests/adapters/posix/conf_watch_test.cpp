// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/conf_watch.hpp"

#include "tests/adapters/posix/support.hpp"

#include <filesystem>
#include <fstream>

namespace fdbpack::posix {
namespace {

namespace fs = std::filesystem;
using test::run_until;

class ConfWatching : public testing::Test {
 protected:
  void start(const std::string& path) {
    watch_ = std::make_unique<ConfWatch>(io_, clock_, path, [this] { ++changes_; });
    EXPECT_FALSE(watch_->is_degraded());
  }
  [[nodiscard]] bool is_told() {
    const int before = told_;
    const bool result = run_until(io_, [&] { return changes_ > before; });
    told_ = changes_;
    return result;
  }
  void expect_silence() {
    test::run_for(io_, std::chrono::milliseconds(200));
    EXPECT_EQ(changes_, told_);
  }

  boost::asio::io_context io_{1};
  SteadyClock clock_{io_};
  test::TempDir dir_;
  std::unique_ptr<ConfWatch> watch_;
  int changes_ = 0;
  int told_ = 0;
};

TEST_F(ConfWatching, RewritingInPlaceIsSeenOnce) {
  const auto path = dir_.write("f.conf", "a");
  start(path);
  (void)dir_.write("f.conf", "ab");
  (void)dir_.write("f.conf", "abc");
  EXPECT_TRUE(is_told());
  expect_silence();
}

TEST_F(ConfWatching, RenamingOverIsSeenAgainAndAgain) {
  const auto path = dir_.write("f.conf", "a");
  start(path);
  for (int i = 0; i < 3; ++i) {
    fs::rename(dir_.write("new", "v" + std::to_string(i)), path);
    EXPECT_TRUE(is_told()) << i;
  }
}

TEST_F(ConfWatching, DeletingAndCreatingAnewIsSeen) {
  const auto path = dir_.write("f.conf", "a");
  start(path);
  fs::remove(path);
  EXPECT_TRUE(is_told());
  (void)dir_.write("f.conf", "b");
  EXPECT_TRUE(is_told());
}

TEST_F(ConfWatching, AWriterThatIsNotDoneIsWaitedFor) {
  const auto path = dir_.write("f.conf", "a");
  start(path);
  std::ofstream writer(path, std::ios::trunc);
  writer << "half" << std::flush;
  expect_silence();
  writer << " whole" << std::flush;
  writer.close();
  EXPECT_TRUE(is_told());
}

// As Kubernetes mounts a ConfigMap: f.conf -> ..data/f.conf, ..data -> ..1
TEST_F(ConfWatching, AConfigMapFlipIsSeenAndTheOldDirectoryDoesNotMatter) {
  for (const char* version : {"..1", "..2", "..3"}) {
    fs::create_directory(dir_.path(version));
    (void)dir_.write(std::string(version) + "/f.conf", version);
  }
  fs::create_symlink("..1", dir_.path("..data"));
  fs::create_symlink("..data/f.conf", dir_.path("f.conf"));
  start(dir_.path("f.conf"));
  for (const char* version : {"..2", "..3"}) {
    fs::create_symlink(version, dir_.path("..data_tmp"));
    fs::rename(dir_.path("..data_tmp"), dir_.path("..data"));
    EXPECT_TRUE(is_told()) << version;
  }
  fs::remove_all(dir_.path("..1"));
  fs::remove_all(dir_.path("..2"));
  expect_silence();
}

TEST_F(ConfWatching, ALinkInTheSameDirectoryIsSeenAfterOtherChanges) {
  (void)dir_.write("r1", "a");
  (void)dir_.write("r2", "b");
  fs::create_symlink("r1", dir_.path("f.conf"));
  start(dir_.path("f.conf"));
  fs::rename(dir_.write("new", "a2"), dir_.path("r1"));
  EXPECT_TRUE(is_told());
  fs::create_symlink("r2", dir_.path("link"));
  fs::rename(dir_.path("link"), dir_.path("f.conf"));
  EXPECT_TRUE(is_told());
}

TEST_F(ConfWatching, ALinkedDirectoryThatIsPointedElsewhereIsSeen) {
  for (const char* name : {"d1", "d2"}) {
    fs::create_directory(dir_.path(name));
    (void)dir_.write(std::string(name) + "/f.conf", name);
  }
  fs::create_symlink("d1", dir_.path("d"));
  start(dir_.path("d/f.conf"));
  fs::create_symlink("d2", dir_.path("link"));
  fs::rename(dir_.path("link"), dir_.path("d"));
  EXPECT_TRUE(is_told());
}

TEST_F(ConfWatching, AMissingDirectoryIsSeenWhenItComes) {
  watch_ =
      std::make_unique<ConfWatch>(io_, clock_, dir_.path("a/b/f.conf"), [this] { ++changes_; });
  fs::create_directories(dir_.path("a/b"));
  (void)dir_.write("a/b/f.conf", "x");
  EXPECT_TRUE(is_told());
}

TEST_F(ConfWatching, OtherFilesBesideItDoNotMatter) {
  start(dir_.write("f.conf", "a"));
  (void)dir_.write("other", "b");
  fs::remove(dir_.path("other"));
  expect_silence();
}

}  // namespace
}  // namespace fdbpack::posix
