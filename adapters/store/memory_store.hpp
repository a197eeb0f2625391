// SPDX-License-Identifier: Apache-2.0
//
// A store that is only memory, for tests and simulations: everything takes its time by the Clock it
// is given, and everything that can go wrong can be made to.
//
//   MemoryDisk                 what survives a coordinator: the entries, and who leads
//     ├── MemoryStore          a coordinator's view of it; gone when the coordinator is
//     └── MemoryStore
//
// One that has crashed answers nothing any more. Its lead ends when its lease has run out.
#pragma once

#include "adapters/store/change_log.hpp"
#include "ports/clock.hpp"
#include "ports/store.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fdbpack::store {

class MemoryStore;

class MemoryDisk {
 public:
  explicit MemoryDisk(Duration lease = std::chrono::seconds(10)) : lease_(lease) {}

  [[nodiscard]] const std::map<std::string, ports::StoreEntry>& entries() const { return entries_; }
  [[nodiscard]] ports::StoreRevision revision() const { return revision_; }
  // The leader leads no more and hears of it only after `notice`; another may lead at once.
  void depose(Duration notice = {});
  void compact() { log_.compact(revision_); }

 private:
  friend class MemoryStore;

  const Duration lease_;
  std::map<std::string, ports::StoreEntry> entries_;
  ports::StoreRevision revision_ = 0;
  ChangeLog log_;
  std::vector<MemoryStore*> stores_;
  MemoryStore* leader_ = nullptr;
  std::uint64_t term_ = 0;  // grows with each leader
  std::optional<ports::StoreLeader> leader_name_;
  std::optional<Instant> free_at_;  // the leader has crashed: its lease runs until then
};

class MemoryStore final : public ports::Store {
 public:
  enum class Fault {
    none,
    refuse,        // nothing is written, and it is said so
    lose_request,  // nothing is written, and that is not known
    lose_answer,   // written, and that is not known
    crash_before,
    crash_after,  // written, and this store is dead
  };
  // Asked before each commit.
  using FaultPlan = std::function<Fault(const ports::StoreTransaction&)>;

  MemoryStore(ports::Clock& clock, std::shared_ptr<MemoryDisk> disk);
  ~MemoryStore() override;
  MemoryStore(const MemoryStore&) = delete;
  MemoryStore& operator=(const MemoryStore&) = delete;

  void set_faults(FaultPlan plan) { plan_ = std::move(plan); }
  void set_delay(Duration delay) { delay_ = delay; }
  void crash();
  [[nodiscard]] bool has_crashed() const { return has_crashed_; }

  void load(std::string prefix, OnLoaded on_loaded) override;
  void commit(ports::StoreTransaction transaction, OnCommitted on_committed) override;
  [[nodiscard]] std::unique_ptr<ports::StoreSubscription> campaign(ports::StoreLeader self,
                                                                   OnLeading on_change) override;
  [[nodiscard]] std::optional<ports::StoreLeader> leader() const override;
  [[nodiscard]] std::unique_ptr<ports::StoreSubscription> follow(ports::StoreRevision revision,
                                                                 OnChanges on_changes) override;

 private:
  friend class MemoryDisk;
  class Campaign;
  struct Due {
    Instant at;
    std::function<void()> act;
  };

  void later(Duration delay, std::function<void()> act);
  void run_due();
  void try_to_lead();
  void step_down(Duration notice);
  [[nodiscard]] ports::StoreSnapshot read(const std::string& prefix) const;
  [[nodiscard]] std::uint64_t term() const;  // 0: we do not lead
  [[nodiscard]] Result<ports::StoreRevision> write(const ports::StoreTransaction& transaction,
                                                   std::uint64_t called_in);
  [[nodiscard]] ports::StoreRevision apply(const ports::StoreTransaction& transaction);

  ports::Clock& clock_;
  const std::shared_ptr<MemoryDisk> disk_;
  std::unique_ptr<ports::Alarm> alarm_;
  std::unique_ptr<ports::Alarm> lease_alarm_;
  std::deque<Due> due_;  // in order of the calls
  FaultPlan plan_;
  Duration delay_{};
  Campaign* campaign_ = nullptr;
  bool is_in_doubt_ = false;
  std::uint64_t doubts_ = 0;  // so far; a load called before the last was told does not end it
  bool has_crashed_ = false;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace fdbpack::store
