// SPDX-License-Identifier: Apache-2.0
#include "adapters/store/etcd_election.hpp"

#include "fdbpack/base/check.hpp"

#include <algorithm>
#include <utility>

namespace fdbpack::store {
namespace {

// "name\naddress", for a person with etcdctl.
std::string print_leader(const ports::StoreLeader& leader) {
  return leader.name + "\n" + leader.address;
}

ports::StoreLeader read_leader(const std::string& text) {
  const auto newline = text.find('\n');
  if (newline == std::string::npos) return {text, ""};
  return {text.substr(0, newline), text.substr(newline + 1)};
}

}  // namespace

EtcdElection::EtcdElection(std::shared_ptr<EtcdAccess> access)
    : access_(std::move(access)),
      link_(access_),
      watch_(
          access_, access_->leader_key(), "",
          [this](std::uint64_t, const std::vector<wire::EtcdEvent>& events) { saw(events); },
          [](const Error&) {}),  // started again with the next look at the key
      tick_alarm_(access_->clock.make_alarm([this] { tick(); })),
      end_alarm_(access_->clock.make_alarm([this] {
        if (is_leading_ && !is_leading()) lose();
      })) {}

void EtcdElection::start(ports::StoreLeader self, ports::Store::OnLeading on_change) {
  FDBPACK_CHECK(!is_started());
  self_ = std::move(self);
  on_change_ = std::move(on_change);
  tick_after({});
}

void EtcdElection::stop() {
  on_change_ = nullptr;
  is_leading_ = false;
  is_told_ = false;
  leader_.reset();
  watch_.stop();
  tick_alarm_->clear();
  end_alarm_->clear();
  link_.give_up();
  drop_lease();
}

bool EtcdElection::is_leading() const {
  return is_leading_ && access_->clock.now() < lease_until_;
}

void EtcdElection::tick_after(Duration duration) {
  tick_alarm_->set(access_->clock.now() + duration);
}

void EtcdElection::tick() {
  if (link_.is_busy()) return;
  lease_ == 0 ? grant() : keep_alive();
}

void EtcdElection::lease_is(const wire::EtcdLease& lease, Instant asked_at) {
  lease_ = lease.id;
  const Duration whole = std::chrono::seconds(lease.ttl_s);
  // etcd may give more than was asked for; we do not use it, so that all agree on how long it is.
  const Duration used = std::min(whole, Duration(access_->options.lease));
  lease_until_ = asked_at + used - used / 10;
}

void EtcdElection::grant() {
  const Instant asked_at = access_->clock.now();
  link_.ask({"/v3/lease/grant", wire::print_etcd_grant(access_->options.lease.count()), true, {}},
            [this, asked_at](const Result<std::string>& body) {
              const auto lease = body ? wire::read_etcd_lease(*body) : fail(body.error());
              if (!lease || lease->id == 0) return tick_after(access_->jittered(third()));
              lease_is(*lease, asked_at);
              create();
            });
}

void EtcdElection::keep_alive() {
  const Instant asked_at = access_->clock.now();
  link_.ask({"/v3/lease/keepalive", wire::print_etcd_lease(lease_), true, third()},
            [this, asked_at](const Result<std::string>& body) {
              const auto lease = body ? wire::read_etcd_lease(*body) : fail(body.error());
              // Asked again soon: if it does not come to life in time, we stop leading by the
              // clock.
              if (!lease) return tick_after(access_->jittered(third() / 3));
              if (lease->ttl_s <= 0) {
                lease_ = 0;  // it is gone: there is nothing to give back
                if (is_leading_) return lose();
                return tick_after(access_->jittered(kEtcdPauseMin));
              }
              lease_is(*lease, asked_at);
              if (!is_leading_) return create();
              end_alarm_->set(lease_until_);
              tick_after(third());
            });
}

void EtcdElection::create() {
  wire::EtcdTxn txn;
  txn.compares = {{access_->leader_key(), wire::EtcdCompare::What::create_revision, 0}};
  txn.writes = {{access_->leader_key(), print_leader(self_), lease_}};
  txn.read_otherwise = access_->leader_key();
  // May be repeated: when the first try did it, the second finds the key with our lease.
  link_.ask({"/v3/kv/txn", wire::print_etcd_txn(txn), true, third()},
            [this](Result<std::string> body) { created(std::move(body)); });
}

void EtcdElection::created(Result<std::string> body) {
  if (!body && body.error().code == ErrorCode::not_found) lease_ = 0;  // the lease is
  const auto answer = body ? wire::read_etcd_txn(*body) : fail(body.error());
  if (!answer) return tick_after(access_->jittered(third() / 3));
  if (!watch_.is_started()) watch_.start(answer->revision + 1);
  if (answer->has_succeeded) return lead(answer->revision, answer->revision);
  if (answer->read && answer->read->lease == lease_) {
    return lead(answer->read->create_revision, answer->read->mod_revision);
  }
  if (answer->read) leader_ = read_leader(answer->read->value);
  tick_after(access_->jittered(third()));
}

void EtcdElection::lead(std::uint64_t create_revision, std::uint64_t mod_revision) {
  create_revision_ = create_revision;
  mod_revision_ = mod_revision;
  is_leading_ = true;
  if (!is_leading()) return lose();  // it took too long
  leader_ = self_;
  end_alarm_->set(lease_until_);
  tick_after(third());
  is_told_ = true;
  const auto on_change = on_change_;  // which may be ended by the call
  on_change(true);
}

void EtcdElection::lose(std::optional<ports::StoreLeader> to) {
  is_leading_ = false;
  leader_ = std::move(to);
  link_.give_up();
  drop_lease();
  end_alarm_->clear();
  tick_after(access_->jittered(kEtcdPauseMin));
  const auto on_change = on_change_;
  if (std::exchange(is_told_, false)) on_change(false);
}

void EtcdElection::drop_lease() {
  if (lease_ == 0) return;
  // Not needed for safety: it makes way for the next leader sooner.
  revoking_ = std::make_shared<EtcdLink>(access_);
  revoking_->ask({"/v3/lease/revoke", wire::print_etcd_lease(lease_), true, {}},
                 [](const Result<std::string>&) {});
  lease_ = 0;
}

void EtcdElection::saw(const std::vector<wire::EtcdEvent>& events) {
  const wire::EtcdEvent& last = events.back();
  const bool is_ours =
      is_leading_ && !last.is_removal && last.entry.create_revision == create_revision_;
  if (is_ours) return;
  // What the watch tells may be older than what we did.
  if (is_leading_ && last.entry.mod_revision <= create_revision_) return;
  std::optional<ports::StoreLeader> now;
  if (!last.is_removal) now = read_leader(last.entry.value);
  if (is_leading_) return lose(std::move(now));
  leader_ = std::move(now);
  if (last.is_removal) tick_after({});
}

wire::EtcdTxn EtcdElection::renewal_of_fence() const {
  wire::EtcdTxn txn;
  txn.compares = {
      {access_->leader_key(), wire::EtcdCompare::What::create_revision, create_revision_}};
  txn.writes = {{access_->leader_key(), print_leader(self_), lease_}};
  txn.read_otherwise = access_->leader_key();
  return txn;
}

bool EtcdElection::look_at(const std::optional<wire::EtcdEntry>& key) {
  if (!is_leading_) return false;
  if (key && key->create_revision == create_revision_) {
    mod_revision_ = key->mod_revision;
    return true;
  }
  lose();
  return false;
}

}  // namespace fdbpack::store
