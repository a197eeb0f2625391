// SPDX-License-Identifier: Apache-2.0
#include "adapters/store/change_log.hpp"

#include "fdbpack/base/check.hpp"

#include <utility>

namespace fdbpack::store {

struct ChangeLog::Follower {
  Later later;
  ports::Store::OnChanges on_changes;
};

class ChangeLog::Following final : public ports::StoreSubscription {
 public:
  explicit Following(std::shared_ptr<Follower> follower) : follower_(std::move(follower)) {}

 private:
  std::shared_ptr<Follower> follower_;
};

void ChangeLog::send(const std::shared_ptr<Follower>& follower, Changes changes) {
  follower->later([weak = std::weak_ptr(follower), changes = std::move(changes)] {
    const auto alive = weak.lock();
    if (alive) alive->on_changes(*changes);
  });
}

void ChangeLog::append(ports::StoreRevision revision, std::vector<ports::StoreChange> changes) {
  FDBPACK_CHECK(revision > newest_);
  newest_ = revision;
  const auto shared = std::make_shared<const std::vector<ports::StoreChange>>(std::move(changes));
  kept_.push_back({revision, shared});
  if (kept_.size() > kKeptMax) {
    oldest_ = kept_.front().revision;
    kept_.pop_front();
  }
  std::erase_if(followers_, [](const auto& weak) { return weak.expired(); });
  for (const auto& weak : followers_) {
    if (const auto follower = weak.lock()) send(follower, shared);
  }
}

std::unique_ptr<ports::StoreSubscription> ChangeLog::follow(ports::StoreRevision revision,
                                                            Later later,
                                                            ports::Store::OnChanges on_changes) {
  auto follower = std::make_shared<Follower>(Follower{std::move(later), std::move(on_changes)});
  if (revision < oldest_ || revision > newest_) {
    follower->later([weak = std::weak_ptr(follower), revision] {
      const auto alive = weak.lock();
      if (!alive) return;
      alive->on_changes(fail(
          ErrorCode::not_found,
          "what changed after revision " + std::to_string(revision) + " is not known any more"));
    });
  } else {
    for (const auto& kept : kept_) {
      if (kept.revision > revision) send(follower, kept.changes);
    }
    followers_.push_back(follower);
  }
  return std::make_unique<Following>(std::move(follower));
}

void ChangeLog::compact(ports::StoreRevision revision) {
  while (!kept_.empty() && kept_.front().revision <= revision) {
    oldest_ = kept_.front().revision;
    kept_.pop_front();
  }
}

}  // namespace fdbpack::store
