// SPDX-License-Identifier: Apache-2.0
//
// The host around the processes: its disks, and what is wrong on it since when.
//
//   processes, conf ──────────────┐
//   disks, once a minute ─────────┴─> observe() ──> ConditionBook ──> pages, host.json
//
// How much each process uses is measured when somebody has asked for it since. Runs on the agent's
// thread; disks are looked at behind ports::DiskGauge.
#pragma once

#include "agent/conf_keeper.hpp"
#include "agent/state_dir.hpp"
#include "agent/supervisor.hpp"
#include "agent/world.hpp"
#include "fdbpack/conditions/condition.hpp"
#include "fdbpack/wire/conditions_json.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fdbpack::agent {

// A directory for data: of processes, or one that the configuration names.
struct DataDirectory {
  std::string path;
  std::string type = "file";
  std::string key;                     // of the configuration; empty: it names none
  std::vector<std::string> processes;  // sections that keep their data in it
  std::optional<ports::DiskReading> reading;
};

struct StorageSetting {
  std::string type, key, path;
};

class HostWatch {
 public:
  static constexpr auto kDiskEvery = std::chrono::seconds(60);

  // `on_change`: what the pages say has changed.
  HostWatch(World& world, const StateDir& state_dir, std::vector<StorageSetting> storage,
            std::function<void()> on_change);

  // What an earlier agent knew.
  void restore();
  // After every change, and now and then. True: there are other conditions than before.
  bool look(const ConfKeeper& conf, const Supervisor& supervisor);
  // Writes what the next agent is to know, if that has changed. Why not, when it cannot.
  [[nodiscard]] std::string save();
  // Somebody wants to know who uses how much.
  void ask_for_use() { is_use_wanted_ = true; }
  void set_draining(std::optional<wire::Draining> draining);

  [[nodiscard]] std::vector<conditions::Condition> conditions() const { return book_.conditions(); }
  [[nodiscard]] const std::optional<wire::Draining>& draining() const { return draining_; }
  [[nodiscard]] const std::map<std::string, DataDirectory>& directories() const { return dirs_; }
  [[nodiscard]] std::optional<WallTime> measured_at() const { return measured_at_; }

 private:
  [[nodiscard]] conditions::HostFacts facts(const ConfKeeper& conf, const Supervisor& supervisor);
  void update_directories(const Supervisor& supervisor);
  void read_disks();
  void on_disks(const std::vector<ports::DiskReading>& readings);
  void set_alarm();

  World& world_;
  StateDir state_dir_;
  std::vector<StorageSetting> storage_;
  std::function<void()> on_change_;
  conditions::ConditionBook book_;
  std::optional<wire::Draining> draining_;
  std::map<std::string, DataDirectory> dirs_;  // by path
  std::map<std::string, std::string> dir_of_;  // by section
  std::optional<WallTime> measured_at_;
  std::optional<Instant> well_at_;  // when the next process has run well
  std::unique_ptr<ports::Alarm> disk_alarm_;
  std::unique_ptr<ports::Alarm> look_alarm_;
  bool is_use_wanted_ = true;
  bool is_disk_due_ = true;  // at once
  bool is_dirty_ = false;    // host.json is old
};

}  // namespace fdbpack::agent
