// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/rotating_file.hpp"

#include "tests/support/files.hpp"
#include "tests/support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace fdbpack::posix {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> set_aside(const support::TempDir& dir) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(dir.path())) {
    if (entry.path().filename() != "monitor.log") found.push_back(entry.path());
  }
  return found;
}

TEST(RotatingFile, AppendsToWhatIsThere) {
  const support::TempDir dir;
  dir.write("monitor.log", "before\n");
  RotatingFile file(dir.file("monitor.log"));
  file.write("now\n");
  EXPECT_EQ(test::read_file(dir.file("monitor.log")), "before\nnow\n");
  EXPECT_EQ(file.error(), "");
}

TEST(RotatingFile, IsSetAsideBeforeItGrowsOverItsSizeAndOldOnesGo) {
  const support::TempDir dir;
  dir.write("monitor-2001-01-01T00-00-00.000.log", "old\n");
  dir.write("monitor-unrelated.log", "of somebody else\n");
  RotationLimits limits;
  limits.bytes_max = 10;
  limits.kept_max = 1;
  RotatingFile file(dir.file("monitor.log"), limits);
  file.write("12345678\n");
  file.write("abc\n");
  EXPECT_EQ(test::read_file(dir.file("monitor.log")), "abc\n");
  const auto aside = set_aside(dir);
  ASSERT_EQ(aside.size(), 2U) << "one is kept, and the one that is not ours";
  for (const auto& path : aside)
    EXPECT_NE(test::read_file(path.string()), "old\n");
}

TEST(RotatingFile, RemovesWhatIsTooOld) {
  const support::TempDir dir;
  const auto old = dir.write("monitor-2001-01-01T00-00-00.000.log", "old\n");
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(24 * 8));
  RotationLimits limits;
  limits.bytes_max = 4;
  RotatingFile file(dir.file("monitor.log"), limits);
  file.write("abc\n");
  file.write("def\n");
  EXPECT_FALSE(fs::exists(old));
}

TEST(RotatingFile, SaysWhyItCannotBeWritten) {
  const support::TempDir dir;
  fs::create_directories(dir.file("monitor.log"));
  RotatingFile file(dir.file("monitor.log"));
  file.write("lost\n");
  EXPECT_NE(file.error(), "");
  fs::remove(dir.file("monitor.log"));
  file.write("kept\n");
  EXPECT_EQ(file.error(), "");
  EXPECT_EQ(test::read_file(dir.file("monitor.log")), "kept\n");
}

}  // namespace
}  // namespace fdbpack::posix
