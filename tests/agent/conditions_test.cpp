// SPDX-License-Identifier: Apache-2.0
//
// Conditions as real processes bring them about, and how they end.
#include "agent/api/host_json.hpp"
#include "tests/agent/fixture.hpp"

#include <nlohmann/json.hpp>

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

// Disks that say what a test wants them to.
class ToldDisks final : public ports::DiskGauge {
 public:
  bool read(std::vector<ports::DiskRequest> requests,
            std::function<void(std::vector<ports::DiskReading>)> on_done) override {
    asked = std::move(requests);
    answer = std::move(on_done);
    return true;
  }
  std::vector<ports::DiskRequest> asked;
  std::function<void(std::vector<ports::DiskReading>)> answer;
};

class StorageUnits : public WithAgent {
 protected:
  StorageUnits() {
    disks_ = &told_;
    write_conf("[x]\ncommand = " + sleeper() + "\n[x.1]\ndatadir = /a\n[x.2]\ndatadir = /b\n");
    start();
    EXPECT_TRUE(wait([&] { return told_.asked.size() == 2; }));
  }
  static ports::DiskReading reading(const std::string& path) {
    ports::DiskReading reading;
    reading.path = path;
    reading.device = 2049;
    reading.file_system = "ext4";
    reading.total_bytes = 1u << 30;
    reading.free_bytes = 1u << 29;
    return reading;
  }
  nlohmann::json storage() {
    wire::JsonWriter json;
    json.begin_object();
    write_storage(json, instance_->agent->host());
    json.end_object();
    return nlohmann::json::parse(std::move(json).text())["storage"];
  }

  ToldDisks told_;
};

TEST_F(StorageUnits, OneFileSystemMountedTwiceIsReadOnlyIfAllOfItIs) {
  auto frozen = reading("/a");
  frozen.is_read_only = true;
  told_.answer({frozen, reading("/b")});
  ASSERT_EQ(storage()["units"].size(), 1u) << storage().dump(1);
  const auto unit = storage()["units"][0];
  EXPECT_EQ(unit["read_only"], false);
  EXPECT_EQ(unit["directories"][0]["read_only"], true);
  EXPECT_EQ(unit["directories"][1]["read_only"], false);
}

TEST_F(StorageUnits, ALookThatFailedMeasuresNothing) {
  ports::DiskReading failed;
  failed.path = "/a";
  failed.error = "does not answer";
  auto other = failed;
  other.path = "/b";
  told_.answer({failed, other});
  EXPECT_TRUE(storage()["measured_at"].is_null()) << storage().dump(1);
}

}  // namespace
}  // namespace fdbpack::agent
