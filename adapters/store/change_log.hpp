// SPDX-License-Identifier: Apache-2.0
//
// The last transactions of a store that one process owns, and who follows them.
//
//   forgotten | kept_ (at most kKeptMax) | now
//             ^ oldest_: one can follow from here on
#pragma once

#include "ports/store.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace fdbpack::store {

// Calls back soon, not from inside the call.
using Later = std::function<void(std::function<void()>)>;

class ChangeLog {
 public:
  static constexpr std::size_t kKeptMax = 1024;

  explicit ChangeLog(ports::StoreRevision now = 0) : oldest_(now), newest_(now) {}

  void append(ports::StoreRevision revision, std::vector<ports::StoreChange> changes);
  [[nodiscard]] std::unique_ptr<ports::StoreSubscription> follow(
      ports::StoreRevision revision, Later later, ports::Store::OnChanges on_changes);
  // Forgets everything before `revision`: nobody can begin to follow from there any more.
  void compact(ports::StoreRevision revision);

 private:
  using Changes = std::shared_ptr<const std::vector<ports::StoreChange>>;
  struct Kept {
    ports::StoreRevision revision;
    Changes changes;
  };
  struct Follower;
  class Following;
  static void send(const std::shared_ptr<Follower>& follower, Changes changes);

  ports::StoreRevision oldest_, newest_;
  std::deque<Kept> kept_;
  std::vector<std::weak_ptr<Follower>> followers_;
};

}  // namespace fdbpack::store
