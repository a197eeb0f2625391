// SPDX-License-Identifier: Apache-2.0
#include "adapters/store/sqlite_store.hpp"

#include "adapters/store/change_log.hpp"
#include "adapters/store/limits.hpp"
#include "adapters/store/sqlite_worker.hpp"
#include "adapters/store/store_lock.hpp"
#include "fdbpack/base/check.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace fdbpack::store {
namespace {

using boost::asio::io_context;
using Job = SqliteWorker::Job;
using LoadJob = SqliteWorker::LoadJob;
using CommitJob = SqliteWorker::CommitJob;

}  // namespace

// Lives on the loop's thread; what the worker posts holds it weakly.
class SqliteStore::Impl : public std::enable_shared_from_this<SqliteStore::Impl> {
 public:
  Impl(io_context& io, StoreLock lock, std::string kept_as, ports::StoreRevision revision)
      : io_(io), lock_(std::move(lock)), kept_as_(std::move(kept_as)), log_(revision) {}

  void start(SqliteOptions options, std::unique_ptr<SqliteDatabase> database,
             ports::StoreRevision revision) {
    auto on_done = [&io = io_, weak = weak_from_this()](std::vector<Job> jobs) {
      boost::asio::post(io, [weak, jobs = std::move(jobs)]() mutable {
        if (const auto self = weak.lock()) self->answer(std::move(jobs));
      });
    };
    worker_.emplace(std::move(options), std::move(database), revision, std::move(on_done));
  }
  // The worker is gone after this, and nothing is answered any more.
  void stop() {
    worker_.reset();
    work_.reset();
    is_stopped_ = true;
  }

  void add(Job job) {
    // The loop must not end before the answer.
    if (open_jobs_++ == 0) work_.emplace(io_.get_executor());
    if (auto* load = std::get_if<LoadJob>(&job)) load->doubts_told = doubts_told_;
    worker_->add(std::move(job));
  }

  [[nodiscard]] Status may_commit(const ports::StoreTransaction& transaction) const {
    FDBPACK_TRY_VOID(check_limits(transaction));
    if (!is_leading_) return fail(not_leading());
    return {};
  }

  std::unique_ptr<ports::StoreSubscription> campaign(ports::StoreLeader self, OnLeading on_change);
  std::unique_ptr<ports::StoreSubscription> follow(ports::StoreRevision revision,
                                                   OnChanges on_changes) {
    const auto later = [&io = io_](std::function<void()> act) {
      boost::asio::post(io, std::move(act));
    };
    return log_.follow(revision, later, std::move(on_changes));
  }
  [[nodiscard]] std::optional<ports::StoreLeader> leader() const {
    return is_leading_ ? self_ : std::nullopt;
  }
  [[nodiscard]] const std::string& kept_as() const { return kept_as_; }

 private:
  class Campaign;

  void answer(std::vector<Job> jobs) {
    open_jobs_ -= jobs.size();
    if (open_jobs_ == 0) work_.reset();
    for (Job& job : jobs) {
      if (is_stopped_) return;  // by the answer before
      if (auto* load = std::get_if<LoadJob>(&job)) load->on_loaded(*std::move(load->result));
      auto* commit = std::get_if<CommitJob>(&job);
      if (commit == nullptr) continue;
      doubts_told_ = std::max(doubts_told_, commit->doubts);
      if (*commit->result && !commit->changes.empty()) {
        log_.append(**commit->result, std::move(commit->changes));
      }
      commit->on_committed(*std::move(commit->result));
    }
  }

  io_context& io_;
  const StoreLock lock_;
  const std::string kept_as_;
  ChangeLog log_;
  std::optional<ports::StoreLeader> self_;  // whoever campaigns
  bool is_leading_ = false;
  bool is_stopped_ = false;
  std::size_t open_jobs_ = 0;
  std::uint64_t doubts_told_ = 0;
  std::optional<boost::asio::executor_work_guard<io_context::executor_type>> work_;
  std::optional<SqliteWorker> worker_;  // the first to go
};

class SqliteStore::Impl::Campaign final : public ports::StoreSubscription {
 public:
  explicit Campaign(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  ~Campaign() override {
    impl_->self_.reset();
    impl_->is_leading_ = false;
  }

 private:
  std::shared_ptr<Impl> impl_;
};

std::unique_ptr<ports::StoreSubscription> SqliteStore::Impl::campaign(ports::StoreLeader self,
                                                                      OnLeading on_change) {
  FDBPACK_CHECK(!self_);
  self_ = std::move(self);
  auto told = std::make_shared<OnLeading>(std::move(on_change));
  auto campaign = std::make_unique<Campaign>(shared_from_this());
  is_leading_ = false;
  boost::asio::post(io_, [weak = weak_from_this(), told] {
    const auto impl = weak.lock();
    if (!impl || !impl->self_ || impl->is_stopped_) return;
    impl->is_leading_ = true;
    (*told)(true);
  });
  return campaign;
}

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(io_context& io, SqliteOptions options) {
  FDBPACK_TRY(auto lock, StoreLock::acquire(options.path + ".lock"));
  FDBPACK_TRY(auto database, SqliteDatabase::open(options));
  FDBPACK_TRY(const ports::StoreRevision revision, database->revision());
  auto impl = std::make_shared<Impl>(io, std::move(lock), database->kept_as(), revision);
  impl->start(std::move(options), std::move(database), revision);
  return std::unique_ptr<SqliteStore>(new SqliteStore(std::move(impl)));
}

SqliteStore::SqliteStore(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

SqliteStore::~SqliteStore() {
  impl_->stop();
}

const std::string& SqliteStore::kept_as() const {
  return impl_->kept_as();
}

void SqliteStore::load(std::string prefix, OnLoaded on_loaded) {
  impl_->add(LoadJob{std::move(prefix), std::move(on_loaded), 0, std::nullopt});
}

void SqliteStore::commit(ports::StoreTransaction transaction, OnCommitted on_committed) {
  CommitJob job{std::move(transaction), std::move(on_committed), std::nullopt, {}, 0};
  if (auto status = impl_->may_commit(job.transaction); !status) {
    job.result = fail(std::move(status).error());
  }
  impl_->add(std::move(job));
}

std::unique_ptr<ports::StoreSubscription> SqliteStore::campaign(ports::StoreLeader self,
                                                                OnLeading on_change) {
  return impl_->campaign(std::move(self), std::move(on_change));
}

std::optional<ports::StoreLeader> SqliteStore::leader() const {
  return impl_->leader();
}

std::unique_ptr<ports::StoreSubscription> SqliteStore::follow(ports::StoreRevision revision,
                                                              OnChanges on_changes) {
  return impl_->follow(revision, std::move(on_changes));
}

}  // namespace fdbpack::store
