// SPDX-License-Identifier: Apache-2.0
//
// Who leads, by a key of etcd that lives as long as a lease.
//
//   resting ──start()──► granting ──► creating ──key was free──► leading ──► …
//                           ▲            │ ▲                        │
//                           │      taken ▼ │ gone, or a third of    │ lease lost or nearly run out
//                           by │         waiting  the lease later      │ our own clock, key not
//                           ours └───────────────────────────────────────┘
//
// The lease is kept alive three times in its time. It counts from when we sent the question and
// ends a tenth early, so that we always stop leading before etcd lets somebody else.
//
// The fence is the mod_revision of the key: every commit compares it. It changes with each leader,
// and when the leader writes the key anew, which shuts out commits of its own that are still under
// way (EtcdStore, load after doubt).
#pragma once

#include "adapters/store/etcd_access.hpp"
#include "adapters/store/etcd_link.hpp"
#include "adapters/store/etcd_watch.hpp"
#include "fdbpack/wire/etcd_json.hpp"
#include "ports/store.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace fdbpack::store {

class EtcdElection {
 public:
  explicit EtcdElection(std::shared_ptr<EtcdAccess> access);

  void start(ports::StoreLeader self, ports::Store::OnLeading on_change);
  // Steps down without a word to the caller; etcd is told.
  void stop();

  [[nodiscard]] bool is_started() const { return on_change_ != nullptr; }
  [[nodiscard]] bool is_leading() const;
  [[nodiscard]] const std::optional<ports::StoreLeader>& leader() const { return leader_; }

  // Another one each time we begin to lead; 0 while we do not.
  [[nodiscard]] std::uint64_t term() const { return is_leading() ? create_revision_ : 0; }
  // While leading. What a commit compares, and what writing the key anew takes.
  [[nodiscard]] std::uint64_t fence() const { return mod_revision_; }
  [[nodiscard]] wire::EtcdTxn renewal_of_fence() const;
  void fence_is(std::uint64_t revision) { mod_revision_ = revision; }
  // What the key was when a comparison had failed. True: it is ours, with another fence maybe. Else
  // we have stopped leading.
  [[nodiscard]] bool look_at(const std::optional<wire::EtcdEntry>& key);

 private:
  void tick();
  void grant();
  void keep_alive();
  void create();
  void created(Result<std::string> body);
  void lead(std::uint64_t create_revision, std::uint64_t mod_revision);
  void lose(std::optional<ports::StoreLeader> to = {});
  void drop_lease();
  void tick_after(Duration duration);
  void saw(const std::vector<wire::EtcdEvent>& events);
  void lease_is(const wire::EtcdLease& lease, Instant asked_at);
  [[nodiscard]] Duration third() const { return Duration(access_->options.lease) / 3; }

  const std::shared_ptr<EtcdAccess> access_;
  EtcdLink link_;
  std::shared_ptr<EtcdLink> revoking_;  // a lease that we gave up
  EtcdWatch watch_;
  std::unique_ptr<ports::Alarm> tick_alarm_;
  std::unique_ptr<ports::Alarm> end_alarm_;  // of the lease
  ports::StoreLeader self_;
  ports::Store::OnLeading on_change_;
  std::int64_t lease_ = 0;  // 0: none
  Instant lease_until_;
  bool is_leading_ = false;
  bool is_told_ = false;  // that we lead
  std::uint64_t create_revision_ = 0;
  std::uint64_t mod_revision_ = 0;
  std::optional<ports::StoreLeader> leader_;
};

}  // namespace fdbpack::store
