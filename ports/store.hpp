// SPDX-License-Identifier: Apache-2.0
//
// Where a coordinator keeps what must not be lost: a map from keys to values, with versions.
//
//   load()     everything below a prefix, as of one revision
//   commit()   all writes of a transaction, or none: not if a key has changed since it was read,
//   and
//              not if another coordinator leads by now
//   campaign() to be the one coordinator that may write; told when that begins and when it ends
//   follow()   what others have written since, for those who do not lead
//
//   revision   grows with every transaction that changes something and is never used twice; one
//   that
//              changes nothing is answered with the last
//
//   waiting ──campaign()──► leading ──lease lost, store gone──► waiting ──► …
//      │                       │
//      └── follow()            └── commit(); an answer means: it is on disk, on a majority
//
// Calls return at once; the answer comes on the caller's thread, never from inside the call, and in
// the order of the calls. Who begins to lead loads first.
//
// A commit answered with `unavailable` is in doubt: it may have happened or not. All commits behind
// it are refused until load() is called, because they may have been meant to come after it. What
// that load shows is how it ended: a commit in doubt does not land later.
//
//   ErrorCode::unavailable        it cannot be said whether it was written
//
// With every other code nothing was written:
//
//   ErrorCode::conflict           a condition did not hold, or a commit before is in doubt
//   ErrorCode::precondition       we do not lead
//   ErrorCode::timed_out          the store is locked or cannot be reached just now
//   ErrorCode::invalid_argument   the transaction is beyond the limits below
//   ErrorCode::permission_denied  the store cannot be written by us
//   ErrorCode::corrupt            the store cannot be read; it was left as it is
//   ErrorCode::internal           no space, an error of the disk: worth another try only after
//                                 somebody has done something about it
#pragma once

#include "fdbpack/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fdbpack::ports {

using StoreRevision = std::uint64_t;  // 0: before anything was written

// What every store takes. etcd's own limits are the reason for these.
inline constexpr std::size_t kStoreKeyBytesMax = 1024;
inline constexpr std::size_t kStoreTransactionBytesMax = std::size_t{1} << 20;  // keys and values
inline constexpr std::size_t kStoreConditionsMax = 60;
inline constexpr std::size_t kStoreWritesMax = 4000;

struct StoreEntry {
  std::string key;
  std::string value;
  StoreRevision changed_at = 0;  // by which transaction

  bool operator==(const StoreEntry&) const = default;
};

struct StoreSnapshot {
  StoreRevision revision = 0;
  std::vector<StoreEntry> entries;  // in order of their keys, which are compared as bytes
};

struct StoreCondition {
  std::string key;
  StoreRevision changed_at = 0;  // 0: there must be no such key
};

struct StoreWrite {
  std::string key;
  std::optional<std::string> value;  // none: the key is removed
};

struct StoreTransaction {
  std::vector<StoreCondition> conditions;
  std::vector<StoreWrite> writes;  // each key once
};

struct StoreChange {
  std::string key;
  std::optional<std::string> value;  // none: removed
  StoreRevision changed_at = 0;

  bool operator==(const StoreChange&) const = default;
};

// Who leads, as everybody can see it: a follower sends clients there.
struct StoreLeader {
  std::string name;
  std::string address;  // of its API, as it announced itself

  bool operator==(const StoreLeader&) const = default;
};

// A right that ends with the object: the campaign, the following. It does not outlive its store.
class StoreSubscription {
 public:
  virtual ~StoreSubscription() = default;
};

class Store {
 public:
  virtual ~Store() = default;

  using OnLoaded = std::function<void(Result<StoreSnapshot>)>;
  using OnCommitted = std::function<void(Result<StoreRevision>)>;
  virtual void load(std::string prefix, OnLoaded on_loaded) = 0;
  virtual void commit(StoreTransaction transaction, OnCommitted on_committed) = 0;

  // `on_change` is called with true when we lead and with false when we do no more; after that no
  // commit of ours lands. It goes on until the subscription is dropped, which steps down. One at a
  // time.
  using OnLeading = std::function<void(bool leads)>;
  [[nodiscard]] virtual std::unique_ptr<StoreSubscription> campaign(StoreLeader self,
                                                                    OnLeading on_change) = 0;
  // As seen by who campaigns. None: nobody leads just now, or it is not known.
  [[nodiscard]] virtual std::optional<StoreLeader> leader() const = 0;

  // Every change after `revision`, a transaction at a time, in order. An error ends it: what was
  // missed cannot be had any more (compacted, disconnected for long), so the follower loads again.
  using OnChanges = std::function<void(Result<std::vector<StoreChange>>)>;
  [[nodiscard]] virtual std::unique_ptr<StoreSubscription> follow(StoreRevision revision,
                                                                  OnChanges on_changes) = 0;
};

}  // namespace fdbpack::ports
