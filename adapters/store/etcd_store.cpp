// SPDX-License-Identifier: Apache-2.0
#include "adapters/store/etcd_store.hpp"

#include "adapters/store/etcd_election.hpp"
#include "adapters/store/etcd_link.hpp"
#include "adapters/store/etcd_watch.hpp"
#include "adapters/store/limits.hpp"
#include "fdbpack/base/check.hpp"
#include "fdbpack/wire/etcd_json.hpp"

#include <deque>
#include <utility>
#include <variant>

namespace fdbpack::store {
namespace {

using ports::StoreRevision;
constexpr int kLoadTriesMax = 5;

struct LoadJob {
  std::string prefix;
  ports::Store::OnLoaded on_loaded;
  std::uint64_t doubts_told = 0;
  ports::StoreSnapshot snapshot;
  int tries = 0;
};

struct CommitJob {
  ports::StoreTransaction transaction;
  ports::Store::OnCommitted on_committed;
  std::uint64_t term = 0;  // in which it was called
};

}  // namespace

class EtcdStore::Impl : public std::enable_shared_from_this<EtcdStore::Impl> {
 public:
  Impl(ports::Clock& clock, EtcdOptions options, std::size_t endpoints, MakeClient make_client)
      : access_(std::make_shared<EtcdAccess>(EtcdAccess{
            clock, options, endpoints, std::move(make_client), Random(options.seed), {}})),
        election_(access_),
        link_(access_),
        next_alarm_(clock.make_alarm([this] { next(); })) {}

  void add(std::variant<LoadJob, CommitJob> job) {
    if (auto* load = std::get_if<LoadJob>(&job)) load->doubts_told = doubts_;
    if (auto* commit = std::get_if<CommitJob>(&job)) commit->term = election_.term();
    jobs_.push_back(std::move(job));
    if (!is_working_) next_alarm_->set(access_->clock.now());
  }

  std::unique_ptr<ports::StoreSubscription> campaign(ports::StoreLeader self, OnLeading on_change);
  std::unique_ptr<ports::StoreSubscription> follow(StoreRevision revision, OnChanges on_changes);
  [[nodiscard]] std::optional<ports::StoreLeader> leader() const { return election_.leader(); }

 private:
  class Campaign;
  class Following;

  void next() {
    if (is_working_ || jobs_.empty()) return;
    is_working_ = true;
    auto job = std::move(jobs_.front());
    jobs_.pop_front();
    if (auto* load = std::get_if<LoadJob>(&job)) {
      load_ = std::move(*load);
      return begin_load();
    }
    commit_ = std::move(std::get<CommitJob>(job));
    begin_commit();
  }
  // After the answer was told, which may have been the end of the store.
  template <class Tell>
  void done(Tell tell) {
    const auto self = shared_from_this();
    is_working_ = false;
    tell();
    if (!jobs_.empty()) next_alarm_->set(access_->clock.now());
  }

  void begin_load();
  void change_fence();
  void read_page();
  void got_page(const Result<std::string>& body);
  void loaded(Result<ports::StoreSnapshot> result);

  void begin_commit();
  void committed(const Result<std::string>& body);
  void tell_committed(Result<StoreRevision> result);

  const std::shared_ptr<EtcdAccess> access_;
  EtcdElection election_;
  EtcdLink link_;
  std::unique_ptr<ports::Alarm> next_alarm_;
  std::deque<std::variant<LoadJob, CommitJob>> jobs_;  // that wait
  bool is_working_ = false;                            // on one of these:
  LoadJob load_;
  CommitJob commit_;
  bool is_in_doubt_ = false;
  std::uint64_t doubts_ = 0;  // so far, and told
};

void EtcdStore::Impl::begin_load() {
  const bool knows_of_doubt = load_.doubts_told == doubts_;
  if (is_in_doubt_ && knows_of_doubt && election_.is_leading()) return change_fence();
  read_page();
}

// Nothing of ours that is under way can land after this.
void EtcdStore::Impl::change_fence() {
  link_.ask({"/v3/kv/txn", wire::print_etcd_txn(election_.renewal_of_fence()), true, {}},
            [this](const Result<std::string>& body) {
              const auto answer = body ? wire::read_etcd_txn(*body) : fail(body.error());
              if (!answer) return loaded(fail(answer.error()));
              if (answer->has_succeeded) {
                election_.fence_is(answer->revision);
                is_in_doubt_ = false;
              } else if (election_.look_at(answer->read)) {
                return loaded(fail(ErrorCode::timed_out, "the leader's key changes all the time"));
              }
              read_page();
            });
}

void EtcdStore::Impl::read_page() {
  const std::string begin = access_->data_prefix() + load_.prefix;
  wire::EtcdRange range;
  range.begin = begin;
  range.end = wire::etcd_prefix_end(begin);
  range.limit = access_->options.page;
  if (load_.snapshot.revision != 0) {
    range.revision = load_.snapshot.revision;
    range.begin = access_->data_prefix() + load_.snapshot.entries.back().key + '\0';
  }
  link_.ask({"/v3/kv/range", wire::print_etcd_range(range), true, {}},
            [this](const Result<std::string>& body) { got_page(body); });
}

void EtcdStore::Impl::got_page(const Result<std::string>& body) {
  if (!body && body.error().code == ErrorCode::not_found && ++load_.tries < kLoadTriesMax) {
    load_.snapshot = {};  // compacted while we read
    return read_page();
  }
  auto answer = body ? wire::read_etcd_range(*body) : fail(body.error());
  if (!answer) return loaded(fail(std::move(answer).error()));
  if (load_.snapshot.revision == 0) load_.snapshot.revision = answer->revision;
  const std::size_t cut = access_->data_prefix().size();
  for (wire::EtcdEntry& entry : answer->entries) {
    entry.key.erase(0, cut);
    load_.snapshot.entries.push_back(
        {std::move(entry.key), std::move(entry.value), entry.mod_revision});
  }
  if (answer->has_more && !answer->entries.empty()) return read_page();
  loaded(std::move(load_.snapshot));
}

void EtcdStore::Impl::loaded(Result<ports::StoreSnapshot> result) {
  done([this, &result] {
    const auto on_loaded = std::move(load_.on_loaded);
    load_ = {};
    on_loaded(std::move(result));
  });
}

void EtcdStore::Impl::begin_commit() {
  if (auto status = check_limits(commit_.transaction); !status) {
    return tell_committed(fail(std::move(status).error()));
  }
  if (commit_.term == 0 || commit_.term != election_.term()) {
    return tell_committed(fail(not_leading()));
  }
  if (is_in_doubt_) return tell_committed(fail(in_doubt()));
  const std::string data = access_->data_prefix();
  wire::EtcdTxn txn;
  txn.compares = {
      {access_->leader_key(), wire::EtcdCompare::What::mod_revision, election_.fence()}};
  for (const auto& condition : commit_.transaction.conditions) {
    txn.compares.push_back(
        {data + condition.key, wire::EtcdCompare::What::mod_revision, condition.changed_at});
  }
  for (const auto& write : commit_.transaction.writes) {
    txn.writes.push_back({data + write.key, write.value, 0});
  }
  txn.read_otherwise = access_->leader_key();
  link_.ask({"/v3/kv/txn", wire::print_etcd_txn(txn), false, {}},
            [this](const Result<std::string>& body) { committed(body); });
}

void EtcdStore::Impl::committed(const Result<std::string>& body) {
  if (!body) {
    const ErrorCode code = body.error().code;
    const bool is_known = code != ErrorCode::not_found;
    return tell_committed(fail(is_known ? code : ErrorCode::internal, body.error().message));
  }
  const auto answer = wire::read_etcd_txn(*body);
  if (!answer) return tell_committed(fail(ErrorCode::unavailable, answer.error().message));
  if (answer->has_succeeded) return tell_committed(answer->revision);
  const std::uint64_t fence = election_.fence();
  if (!election_.look_at(answer->read)) return tell_committed(fail(not_leading()));
  // Only the fence was another: an earlier change of it came late. Nothing was written; once more.
  if (election_.fence() != fence) return begin_commit();
  tell_committed(
      fail(ErrorCode::conflict, "a key of the transaction has changed since it was read"));
}

void EtcdStore::Impl::tell_committed(Result<StoreRevision> result) {
  if (!result && result.error().code == ErrorCode::unavailable) {
    is_in_doubt_ = true;
    ++doubts_;
  }
  done([this, &result] {
    const auto on_committed = std::move(commit_.on_committed);
    commit_ = {};
    on_committed(std::move(result));
  });
}

class EtcdStore::Impl::Campaign final : public ports::StoreSubscription {
 public:
  explicit Campaign(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  ~Campaign() override { impl_->election_.stop(); }

 private:
  std::shared_ptr<Impl> impl_;
};

std::unique_ptr<ports::StoreSubscription> EtcdStore::Impl::campaign(ports::StoreLeader self,
                                                                    OnLeading on_change) {
  election_.start(std::move(self), std::move(on_change));
  return std::make_unique<Campaign>(shared_from_this());
}

class EtcdStore::Impl::Following final : public ports::StoreSubscription {
 public:
  Following(const std::shared_ptr<EtcdAccess>& access, StoreRevision revision, OnChanges on_changes)
      : cut_(access->data_prefix().size()),
        on_changes_(std::make_shared<OnChanges>(std::move(on_changes))),
        watch_(
            access, access->data_prefix(), wire::etcd_prefix_end(access->data_prefix()),
            [this](std::uint64_t, std::vector<wire::EtcdEvent> events) { tell(std::move(events)); },
            [this](Error error) {
              const auto told = on_changes_;
              (*told)(fail(std::move(error)));
            }) {
    watch_.start(revision + 1);
  }

 private:
  void tell(std::vector<wire::EtcdEvent> events) {
    std::vector<ports::StoreChange> changes;
    changes.reserve(events.size());
    for (wire::EtcdEvent& event : events) {
      ports::StoreChange change;
      change.key = event.entry.key.substr(cut_);
      if (!event.is_removal) change.value = std::move(event.entry.value);
      change.changed_at = event.entry.mod_revision;
      changes.push_back(std::move(change));
    }
    const auto told = on_changes_;  // the call may end this
    (*told)(std::move(changes));
  }

  const std::size_t cut_;
  const std::shared_ptr<OnChanges> on_changes_;
  EtcdWatch watch_;
};

std::unique_ptr<ports::StoreSubscription> EtcdStore::Impl::follow(StoreRevision revision,
                                                                  OnChanges on_changes) {
  return std::make_unique<Following>(access_, revision, std::move(on_changes));
}

EtcdStore::EtcdStore(ports::Clock& clock, EtcdOptions options, std::size_t endpoints,
                     MakeClient make_client)
    : impl_(std::make_shared<Impl>(clock, std::move(options), endpoints, std::move(make_client))) {
  FDBPACK_CHECK(endpoints > 0);
}

EtcdStore::~EtcdStore() = default;

void EtcdStore::load(std::string prefix, OnLoaded on_loaded) {
  impl_->add(LoadJob{std::move(prefix), std::move(on_loaded), 0, {}, 0});
}

void EtcdStore::commit(ports::StoreTransaction transaction, OnCommitted on_committed) {
  impl_->add(CommitJob{std::move(transaction), std::move(on_committed), 0});
}

std::unique_ptr<ports::StoreSubscription> EtcdStore::campaign(ports::StoreLeader self,
                                                              OnLeading on_change) {
  return impl_->campaign(std::move(self), std::move(on_change));
}

std::optional<ports::StoreLeader> EtcdStore::leader() const {
  return impl_->leader();
}

std::unique_ptr<ports::StoreSubscription> EtcdStore::follow(StoreRevision revision,
                                                            OnChanges on_changes) {
  return impl_->follow(revision, std::move(on_changes));
}

}  // namespace fdbpack::store
