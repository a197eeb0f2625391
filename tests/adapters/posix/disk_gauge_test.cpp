// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/disk_gauge.hpp"

#include "adapters/posix/steady_clock.hpp"
#include "tests/adapters/posix/support.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>

namespace fdbpack::posix {
namespace {

using Readings = std::map<std::string, ports::DiskReading>;

struct HangingDisk {
  void look() {
    ++looks;
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return !is_dead; });
    ++returned;
  }
  void set_dead(bool dead) {
    {
      const std::lock_guard lock(mutex);
      is_dead = dead;
    }
    changed.notify_all();
  }
  std::mutex mutex;
  std::condition_variable changed;
  bool is_dead = true;
  std::atomic<int> looks = 0, returned = 0;
};

class DiskGaugeTest : public testing::Test {
 protected:
  Readings read(ThreadedDiskGauge& gauge, const std::vector<ports::DiskRequest>& requests) {
    std::optional<std::vector<ports::DiskReading>> result;
    EXPECT_TRUE(gauge.read(
        requests, [&](std::vector<ports::DiskReading> readings) { result = std::move(readings); }));
    EXPECT_FALSE(gauge.read(requests, {})) << "one at a time";
    EXPECT_TRUE(test::run_until(io_, [&] { return result.has_value(); }));
    Readings by_path;
    for (auto& one : *result)
      by_path[one.path] = one;
    EXPECT_EQ(by_path.size(), result->size());
    return by_path;
  }

  test::TempDir dir_;
  boost::asio::io_context io_{1};
  SteadyClock clock_{io_};
};

TEST_F(DiskGaugeTest, ReadsRoomAndUse) {
  std::filesystem::create_directories(dir_.path("data/deep/down"));
  (void)dir_.write("data/a", std::string(100'000, 'a'));
  (void)dir_.write("data/deep/down/b", std::string(50'000, 'b'));
  std::filesystem::create_hard_link(dir_.path("data/a"), dir_.path("data/again"));
  std::filesystem::create_symlink(dir_.path("data"), dir_.path("data/deep/loop"));
  (void)dir_.write("file", "x");
  ThreadedDiskGauge gauge(io_, clock_);
  const auto all = read(gauge, {{dir_.path("data"), true},
                                {dir_.path("data/deep"), false},
                                {dir_.path("nothing"), true},
                                {dir_.path("file"), true}});
  ASSERT_EQ(all.size(), 4U);
  const auto& data = all.at(dir_.path("data"));
  EXPECT_EQ(data.error, "");
  EXPECT_GE(data.used_bytes, 150'000U);
  EXPECT_LT(data.used_bytes, 240'000U) << "a file with two names counts once";
  EXPECT_FALSE(data.is_use_partial);
  EXPECT_GT(data.total_bytes, data.free_bytes);
  EXPECT_FALSE(data.file_system.empty());
  EXPECT_EQ(all.at(dir_.path("data/deep")).device, data.device);
  EXPECT_FALSE(all.at(dir_.path("data/deep")).has_use);
  EXPECT_TRUE(all.at(dir_.path("nothing")).is_missing);
  EXPECT_EQ(all.at(dir_.path("file")).error, "it is no directory");
}

// A network file system whose server is gone, played by a look that waits.
TEST_F(DiskGaugeTest, GoesOnWithoutADiskThatHangs) {
  // Shared, because a thread that hangs may see it last.
  const auto disk = std::make_shared<HangingDisk>();
  const auto look = [disk](const ports::DiskRequest& request) {
    if (request.path == "dead") disk->look();
    ports::DiskReading reading;
    reading.path = request.path;
    return reading;
  };
  {
    ThreadedDiskGauge gauge(io_, clock_, look, std::chrono::milliseconds(50));
    auto all = read(gauge, {{"a", false}, {"dead", false}, {"b", false}});
    EXPECT_EQ(all.at("a").error, "");
    EXPECT_EQ(all.at("b").error, "");
    EXPECT_EQ(all.at("dead").error, "the file system does not answer");
    all = read(gauge, {{"dead", false}, {"b", false}});
    EXPECT_EQ(all.at("b").error, "");
    EXPECT_EQ(all.at("dead").error, "the file system does not answer");
    EXPECT_EQ(disk->looks, 1) << "who hangs is not asked again";
    disk->set_dead(false);
    EXPECT_TRUE(test::run_until(io_, [&] {
      return read(gauge, {{"dead", false}}).at("dead").error.empty();
    }));
    // A gauge may go while a thread hangs; the thread must find nothing of it.
    disk->set_dead(true);
    EXPECT_TRUE(gauge.read({{"dead", false}}, [](const auto&) { FAIL(); }));
  }
  EXPECT_TRUE(test::run_until(io_, [&] { return disk->looks == disk->returned + 1; }));
  disk->set_dead(false);
  EXPECT_TRUE(test::run_until(io_, [&] { return disk->looks == disk->returned; }));
}

}  // namespace
}  // namespace fdbpack::posix
