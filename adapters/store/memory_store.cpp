// SPDX-License-Identifier: Apache-2.0
#include "adapters/store/memory_store.hpp"

#include "adapters/store/limits.hpp"
#include "fdbpack/base/check.hpp"

#include <algorithm>
#include <utility>

namespace fdbpack::store {

using ports::StoreRevision;
using ports::StoreTransaction;

class MemoryStore::Campaign final : public ports::StoreSubscription {
 public:
  Campaign(MemoryStore& store, ports::StoreLeader self, OnLeading on_change)
      : self_(std::move(self)),
        state_(std::make_shared<State>(State{&store, std::move(on_change)})) {}
  ~Campaign() override {
    if (state_->store == nullptr) return;
    MemoryStore& store = *std::exchange(state_->store, nullptr);
    store.campaign_ = nullptr;
    if (store.disk_->leader_ == &store && !store.has_crashed_) {
      store.disk_->leader_ = nullptr;
      store.disk_->leader_name_.reset();
      for (MemoryStore* other : store.disk_->stores_)
        other->try_to_lead();
    }
  }

  void tell(Duration delay, bool leads) {
    state_->store->later(delay, [state = state_, leads] {
      if (state->store != nullptr) state->on_change(leads);
    });
  }
  void forget_store() { state_->store = nullptr; }
  [[nodiscard]] const ports::StoreLeader& self() const { return self_; }

 private:
  struct State {
    MemoryStore* store;
    OnLeading on_change;
  };
  const ports::StoreLeader self_;
  std::shared_ptr<State> state_;
};

void MemoryDisk::depose(Duration notice) {
  if (leader_ != nullptr) leader_->step_down(notice);
}

MemoryStore::MemoryStore(ports::Clock& clock, std::shared_ptr<MemoryDisk> disk)
    : clock_(clock),
      disk_(std::move(disk)),
      alarm_(clock.make_alarm([this] { run_due(); })),
      lease_alarm_(clock.make_alarm([this] { try_to_lead(); })) {
  disk_->stores_.push_back(this);
}

MemoryStore::~MemoryStore() {
  if (disk_->leader_ == this) crash();
  if (campaign_ != nullptr) campaign_->forget_store();
  std::erase(disk_->stores_, this);
}

void MemoryStore::crash() {
  has_crashed_ = true;
  due_.clear();
  alarm_->clear();
  lease_alarm_->clear();
  if (disk_->leader_ != this) return;
  disk_->leader_ = nullptr;
  disk_->free_at_ = clock_.now() + disk_->lease_;
  for (MemoryStore* other : disk_->stores_)
    other->try_to_lead();
}

void MemoryStore::later(Duration delay, std::function<void()> act) {
  if (has_crashed_) return;
  const Instant earliest = due_.empty() ? clock_.now() : std::max(clock_.now(), due_.back().at);
  due_.push_back({std::max(earliest, clock_.now() + delay), std::move(act)});
  alarm_->set(due_.front().at);
}

void MemoryStore::run_due() {
  const std::weak_ptr<int> alive = alive_;  // an answer may make the coordinator drop its store
  // What comes in meanwhile waits for the next alarm, so that nothing is told from inside a call.
  for (std::size_t left = due_.size(); left > 0 && !due_.empty(); --left) {
    if (due_.front().at > clock_.now()) break;
    const auto act = std::move(due_.front().act);
    due_.pop_front();
    act();
    if (alive.expired()) return;
  }
  if (!due_.empty()) alarm_->set(std::max(due_.front().at, clock_.now()));
}

ports::StoreSnapshot MemoryStore::read(const std::string& prefix) const {
  ports::StoreSnapshot snapshot;
  snapshot.revision = disk_->revision_;
  for (auto at = disk_->entries_.lower_bound(prefix);
       at != disk_->entries_.end() && at->first.starts_with(prefix); ++at) {
    snapshot.entries.push_back(at->second);
  }
  return snapshot;
}

void MemoryStore::load(std::string prefix, OnLoaded on_loaded) {
  later(delay_,
        [this, doubts = doubts_, prefix = std::move(prefix), on_loaded = std::move(on_loaded)] {
          if (doubts == doubts_) is_in_doubt_ = false;
          on_loaded(read(prefix));
        });
}

void MemoryStore::commit(StoreTransaction transaction, OnCommitted on_committed) {
  later(delay_, [this, called_in = term(), transaction = std::move(transaction),
                 on_committed = std::move(on_committed)] {
    auto result = write(transaction, called_in);
    if (has_crashed_) return;
    if (!result && result.error().code == ErrorCode::unavailable) {
      is_in_doubt_ = true;
      ++doubts_;
    }
    on_committed(std::move(result));
  });
}

std::uint64_t MemoryStore::term() const {
  return disk_->leader_ == this ? disk_->term_ : 0;
}

Result<StoreRevision> MemoryStore::write(const StoreTransaction& transaction,
                                         std::uint64_t called_in) {
  FDBPACK_TRY_VOID(check_limits(transaction));
  const Fault fault = plan_ ? plan_(transaction) : Fault::none;
  if (fault == Fault::crash_before) crash();
  if (called_in == 0 || called_in != term()) return fail(not_leading());
  if (is_in_doubt_) return fail(in_doubt());
  if (fault == Fault::refuse) return fail(ErrorCode::internal, "the store has no space left");
  if (fault == Fault::lose_request) return fail(ErrorCode::unavailable, "the store is away");
  for (const auto& condition : transaction.conditions) {
    const auto found = disk_->entries_.find(condition.key);
    const StoreRevision is = found == disk_->entries_.end() ? 0 : found->second.changed_at;
    if (is != condition.changed_at) return fail(changed_since(condition.key));
  }
  const StoreRevision revision = apply(transaction);
  if (fault == Fault::crash_after) crash();
  if (fault == Fault::lose_answer) return fail(ErrorCode::unavailable, "the store went away");
  return revision;
}

StoreRevision MemoryStore::apply(const StoreTransaction& transaction) {
  const StoreRevision next = disk_->revision_ + 1;
  std::vector<ports::StoreChange> changes;
  for (const auto& write : transaction.writes) {
    if (!write.value && disk_->entries_.erase(write.key) == 0) continue;
    if (write.value) disk_->entries_[write.key] = {write.key, *write.value, next};
    changes.push_back({write.key, write.value, next});
  }
  if (changes.empty()) return disk_->revision_;
  disk_->revision_ = next;
  disk_->log_.append(next, std::move(changes));
  return next;
}

std::unique_ptr<ports::StoreSubscription> MemoryStore::campaign(ports::StoreLeader self,
                                                                OnLeading on_change) {
  FDBPACK_CHECK(campaign_ == nullptr);
  auto campaign = std::make_unique<Campaign>(*this, std::move(self), std::move(on_change));
  campaign_ = campaign.get();
  try_to_lead();
  return campaign;
}

void MemoryStore::try_to_lead() {
  if (campaign_ == nullptr || has_crashed_ || disk_->leader_ != nullptr) return;
  if (disk_->free_at_ && clock_.now() < *disk_->free_at_)
    return lease_alarm_->set(*disk_->free_at_);
  disk_->free_at_.reset();
  disk_->leader_ = this;
  ++disk_->term_;
  disk_->leader_name_ = campaign_->self();
  campaign_->tell(delay_, true);
}

void MemoryStore::step_down(Duration notice) {
  disk_->leader_ = nullptr;
  disk_->leader_name_.reset();
  if (campaign_ != nullptr) campaign_->tell(notice, false);
  // Whoever was deposed is the last to try again.
  const auto stores = disk_->stores_;
  for (MemoryStore* other : stores) {
    if (other != this) other->try_to_lead();
  }
  later(notice, [this] { try_to_lead(); });
}

std::optional<ports::StoreLeader> MemoryStore::leader() const {
  return disk_->leader_name_;
}

std::unique_ptr<ports::StoreSubscription> MemoryStore::follow(StoreRevision revision,
                                                              OnChanges on_changes) {
  const auto soon = [this](std::function<void()> act) { later(delay_, std::move(act)); };
  return disk_->log_.follow(revision, soon, std::move(on_changes));
}

}  // namespace fdbpack::store
