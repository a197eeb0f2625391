// SPDX-License-Identifier: Apache-2.0
#include "adapters/posix/disk_gauge.hpp"

#include "adapters/posix/launcher.hpp"
#include "adapters/posix/steady_clock.hpp"
#include "tests/adapters/posix/support.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>

namespace fdbpack::posix {
namespace {

using Readings = std::map<std::string, ports::DiskReading>;

// Reaps as the agent does. While it withholds, SIGKILL does not reach the processes, as if they
// slept in the kernel.
class StubbornLauncher final : public ports::Launcher {
 public:
  explicit StubbornLauncher(ports::Launcher& inner) : inner_(inner) {}

  [[nodiscard]] Outcome launch(const ports::LaunchPlan& plan, ports::OnExit on_exit) override {
    return inner_.launch(plan, std::move(on_exit));
  }
  [[nodiscard]] std::unique_ptr<ports::Child> adopt(int pid, int pidfd,
                                                    ports::OnExit on_exit) override {
    pids.push_back(pid);
    return std::make_unique<Stubborn>(*this, inner_.adopt(pid, pidfd, std::move(on_exit)));
  }
  std::size_t reap_strangers() override { return inner_.reap_strangers(); }

  bool withholds = false;
  std::vector<int> pids;  // of all workers there were

 private:
  class Stubborn final : public ports::Child {
   public:
    Stubborn(StubbornLauncher& owner, std::unique_ptr<ports::Child> inner)
        : owner_(owner), inner_(std::move(inner)) {}
    [[nodiscard]] int pid() const override { return inner_->pid(); }
    [[nodiscard]] int pidfd() const override { return inner_->pidfd(); }
    int signal_process(int signal) override {
      return owner_.withholds ? 0 : inner_->signal_process(signal);
    }
    int signal_group(int signal) override { return inner_->signal_group(signal); }

   private:
    StubbornLauncher& owner_;
    std::unique_ptr<ports::Child> inner_;
  };
  ports::Launcher& inner_;
};

class DiskGaugeTest : public testing::Test {
 protected:
  Readings read(ForkedDiskGauge& gauge, const std::vector<ports::DiskRequest>& requests) {
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

  // "dead" is a network file system whose server is gone until revive(); the rest answers at once.
  DiskLook dying_look() {
    EXPECT_EQ(::mkfifo(dir_.path("server").c_str(), 0600), 0);
    return [server = dir_.path("server"), looks = dir_.path("looks")](const auto& request) {
      if (request.path == "dead") {
        std::ofstream(looks, std::ios::app) << 'x';
        const UniqueFd waits(::open(server.c_str(), O_RDONLY | O_CLOEXEC));
      }
      ports::DiskReading reading;
      reading.path = request.path;
      return reading;
    };
  }
  UniqueFd revive() { return UniqueFd(::open(dir_.path("server").c_str(), O_RDWR | O_CLOEXEC)); }
  std::size_t looks() { return test::read_file(dir_.path("looks")).size(); }
  static bool is_there(int pid) { return ::kill(pid, 0) == 0; }

  static constexpr auto kShort = std::chrono::milliseconds(300);
  static constexpr auto kLong = std::chrono::seconds(60);
  test::TempDir dir_;
  boost::asio::io_context io_{1};
  SteadyClock clock_{io_};
  PosixLauncher real_launcher_{io_, clock_};
  StubbornLauncher launcher_{real_launcher_};
};

TEST_F(DiskGaugeTest, ReadsRoomAndUse) {
  std::filesystem::create_directories(dir_.path("data/deep/down"));
  (void)dir_.write("data/a", std::string(100'000, 'a'));
  (void)dir_.write("data/deep/down/b", std::string(50'000, 'b'));
  std::filesystem::create_hard_link(dir_.path("data/a"), dir_.path("data/again"));
  std::filesystem::create_symlink(dir_.path("data"), dir_.path("data/deep/loop"));
  (void)dir_.write("file", "x");
  ForkedDiskGauge gauge(io_, clock_, launcher_);
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

TEST_F(DiskGaugeTest, GoesOnWithoutADiskThatHangs) {
  launcher_.withholds = true;
  ForkedDiskGauge gauge(io_, clock_, launcher_, dying_look(), kShort);
  auto all = read(gauge, {{"a", false}, {"dead", false}, {"b", false}});
  EXPECT_EQ(all.at("a").error, "");
  EXPECT_EQ(all.at("b").error, "");
  EXPECT_EQ(all.at("dead").error, "the file system does not answer");
  all = read(gauge, {{"dead", false}, {"b", false}});
  EXPECT_EQ(all.at("b").error, "");
  EXPECT_EQ(all.at("dead").error, "the file system does not answer");
  EXPECT_FALSE(all.at("dead").is_unknown);
  EXPECT_EQ(looks(), 1U) << "who hangs is not asked again";
  EXPECT_EQ(launcher_.pids.size(), 3U)
      << "who hangs, who did the rest, and one for the second look";
  const UniqueFd server = revive();
  EXPECT_TRUE(test::run_until(io_, [&] {
    return read(gauge, {{"dead", false}}).at("dead").error.empty();
  }));
  EXPECT_FALSE(is_there(launcher_.pids.front())) << "it is reaped";
  // The others could not be killed here either; they end by themselves.
  EXPECT_TRUE(test::run_until(io_, [&] {
    (void)launcher_.reap_strangers();
    return std::none_of(launcher_.pids.begin(), launcher_.pids.end(), is_there);
  }));
  launcher_.withholds = false;
}

// The next agent needs the lock and the port, whatever became of the worker.
TEST_F(DiskGaugeTest, AWorkerThatHangsHoldsNothingOfOurs) {
  UniqueFd lock(::open(dir_.path("lock").c_str(), O_RDWR | O_CREAT, 0600));
  ASSERT_EQ(::flock(lock.get(), LOCK_EX | LOCK_NB), 0);
  launcher_.withholds = true;
  ForkedDiskGauge gauge(io_, clock_, launcher_, dying_look(), kShort);
  EXPECT_NE(read(gauge, {{"dead", false}}).at("dead").error, "");
  ASSERT_EQ(launcher_.pids.size(), 1U);
  const std::string proc = "/proc/" + std::to_string(launcher_.pids.front());
  EXPECT_EQ(test::read_file(proc + "/comm"), "fdbpack-disks\n");
  std::set<std::string> open;
  for (const auto& entry : std::filesystem::directory_iterator(proc + "/fd"))
    open.insert(entry.path().filename());
  EXPECT_EQ(open, (std::set<std::string>{"0", "1", "2", "3"}));
  lock.reset();
  const UniqueFd again(::open(dir_.path("lock").c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_EQ(::flock(again.get(), LOCK_EX | LOCK_NB), 0);
  EXPECT_TRUE(is_there(launcher_.pids.front())) << "and yet it lives";
  launcher_.withholds = false;
  const UniqueFd server = revive();
  EXPECT_TRUE(test::run_until(io_, [&] { return !is_there(launcher_.pids.front()); }));
}

TEST_F(DiskGaugeTest, KillsWhoDoesNotAnswer) {
  ForkedDiskGauge gauge(io_, clock_, launcher_, dying_look(), kShort);
  for (std::size_t round = 1; round <= 2; ++round) {
    const auto all = read(gauge, {{"dead", false}, {"b", false}});
    EXPECT_EQ(all.at("dead").error, "the file system does not answer");
    EXPECT_EQ(all.at("b").error, "");
    const int pid = launcher_.pids.at(round - 1);
    EXPECT_TRUE(test::run_until(io_, [&] { return !is_there(pid); }));
    EXPECT_EQ(looks(), round) << "its worker has ended: it is asked again";
  }
}

// As before the program is replaced.
TEST_F(DiskGaugeTest, EndsItsWorkerAndGoesOnWithAnother) {
  ForkedDiskGauge gauge(io_, clock_, launcher_, dying_look(), kLong);
  std::optional<std::vector<ports::DiskReading>> result;
  ASSERT_TRUE(gauge.read({{"a", false}, {"dead", false}}, [&](auto all) { result = all; }));
  ASSERT_TRUE(test::run_until(io_, [&] { return looks() == 1; }));
  gauge.end_worker();
  EXPECT_FALSE(is_there(launcher_.pids.front()));
  EXPECT_EQ(launcher_.reap_strangers(), 0U);
  const UniqueFd server = revive();
  ASSERT_TRUE(test::run_until(io_, [&] { return result.has_value(); }));
  ASSERT_EQ(result->size(), 2U);
  for (const auto& one : *result)
    EXPECT_EQ(one.error, "") << one.path;
}

TEST_F(DiskGaugeTest, OutlivesItsWorker) {
  ForkedDiskGauge gauge(io_, clock_, launcher_, dying_look(), kLong);
  EXPECT_EQ(read(gauge, {{"a", false}}).at("a").error, "");
  EXPECT_FALSE(is_there(launcher_.pids.at(0))) << "it ends with the look";
  EXPECT_EQ(launcher_.reap_strangers(), 0U);
  EXPECT_EQ(read(gauge, {}).size(), 0U);
  std::optional<std::vector<ports::DiskReading>> result;
  ASSERT_TRUE(gauge.read({{"dead", false}, {"b", false}}, [&](auto all) { result = all; }));
  ASSERT_TRUE(test::run_until(io_, [&] { return looks() == 1; }));
  ASSERT_EQ(::kill(launcher_.pids.at(1), SIGKILL), 0);
  ASSERT_TRUE(test::run_until(io_, [&] { return result.has_value(); }));
  ASSERT_EQ(result->size(), 2U);
  EXPECT_TRUE(result->at(0).is_unknown);
  EXPECT_EQ(result->at(0).error, "it could not be looked at: the process that did was killed");
  EXPECT_EQ(result->at(1).error, "");
}

TEST_F(DiskGaugeTest, SaysWhyItCannotLookAndTriesAgain) {
  ForkedDiskGauge gauge(io_, clock_, launcher_, dying_look(), kLong);
  ::rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  ::rlimit none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  auto all = read(gauge, {{"a", false}, {"b", false}});
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_TRUE(all.at("b").is_unknown);
  EXPECT_NE(all.at("b").error.find("socketpair: Too many open files"), std::string::npos);
  EXPECT_EQ(read(gauge, {{"a", false}}).at("a").error, "");
}

// More than one message takes, and with names that no file can have.
TEST_F(DiskGaugeTest, AsksForManyDirectories) {
  ForkedDiskGauge gauge(io_, clock_, launcher_);
  std::vector<ports::DiskRequest> requests = {{std::string(100'000, 'x'), false}};
  for (int i = 0; i < 500; ++i)
    requests.push_back({dir_.path(std::string(200, 'd') + std::to_string(i)), false});
  const auto all = read(gauge, requests);
  EXPECT_EQ(all.size(), requests.size());
  for (const auto& [path, reading] : all)
    EXPECT_EQ(reading.is_missing, path.size() < 1000) << reading.error;
  EXPECT_EQ(launcher_.pids.size(), 1U);
}

TEST_F(DiskGaugeTest, MayGoWhileItLooks) {
  {
    ForkedDiskGauge gauge(io_, clock_, launcher_, dying_look(), kLong);
    EXPECT_TRUE(gauge.read({{"dead", false}}, [](const auto&) { FAIL(); }));
    EXPECT_TRUE(test::run_until(io_, [&] { return looks() == 1; }));
  }
  EXPECT_FALSE(is_there(launcher_.pids.front()));
  test::run_for(io_, std::chrono::milliseconds(1));
}

}  // namespace
}  // namespace fdbpack::posix
