// SPDX-License-Identifier: Apache-2.0
#include "adapters/store/sqlite_worker.hpp"

#include "adapters/store/limits.hpp"

#include <pthread.h>
#include <signal.h>

#include <utility>

namespace fdbpack::store {

SqliteWorker::SqliteWorker(SqliteOptions options, std::unique_ptr<SqliteDatabase> database,
                           ports::StoreRevision revision, OnDone on_done)
    : options_(std::move(options)),
      database_(std::move(database)),
      revision_(revision),
      on_done_(std::move(on_done)) {
  // Signals are for the loop's thread.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

SqliteWorker::~SqliteWorker() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  has_jobs_.notify_one();
  thread_.join();
}

void SqliteWorker::add(Job job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  has_jobs_.notify_one();
}

void SqliteWorker::run() {
  while (true) {
    std::vector<Job> batch;
    {
      std::unique_lock lock(mutex_);
      has_jobs_.wait(lock, [this] { return is_ending_ || !jobs_.empty(); });
      if (is_ending_) return;
      const bool is_load = std::holds_alternative<LoadJob>(jobs_.front());
      while (!jobs_.empty() && batch.size() < (is_load ? 1 : kBatchMax) &&
             std::holds_alternative<LoadJob>(jobs_.front()) == is_load) {
        batch.push_back(std::move(jobs_.front()));
        jobs_.pop_front();
      }
    }
    std::vector<CommitJob*> commits;
    for (Job& job : batch) {
      if (auto* one = std::get_if<LoadJob>(&job)) load(*one);
      if (auto* one = std::get_if<CommitJob>(&job); one && !one->result) commits.push_back(one);
    }
    if (!commits.empty()) commit(commits);
    for (CommitJob* one : commits)
      one->doubts = doubts_;
    on_done_(std::move(batch));
  }
}

Status SqliteWorker::open_again() {
  if (database_ && database_->has_moved()) database_.reset();
  if (!database_) {
    FDBPACK_TRY(database_, SqliteDatabase::reopen(options_));
  }
  FDBPACK_TRY(const ports::StoreRevision revision, database_->revision());
  if (revision < revision_) {
    database_.reset();
    return fail(ErrorCode::corrupt, "store " + options_.path + " went back from revision " +
                                        std::to_string(revision_) + " to " +
                                        std::to_string(revision) +
                                        "; restart the coordinator if that is meant to be");
  }
  revision_ = revision;
  return {};
}

void SqliteWorker::load(LoadJob& job) {
  if (auto status = open_again(); !status) {
    job.result = fail(std::move(status).error());
    return;
  }
  job.result = database_->load(job.prefix);
  if (*job.result && job.doubts_told == doubts_) is_in_doubt_ = false;
}

void SqliteWorker::doubt() {
  is_in_doubt_ = true;
  ++doubts_;
  database_.reset();
}

void SqliteWorker::commit(std::vector<CommitJob*>& jobs) {
  const auto status = try_to_commit(jobs);
  if (status) return;
  const bool is_known = status.error().code != ErrorCode::unavailable;
  if (is_known && jobs.size() > 1) return commit_one_by_one(jobs);
  for (CommitJob* job : jobs) {
    job->changes.clear();
    job->result = fail(status.error());
  }
}

// One that is too large for the disk must not take the others with it.
void SqliteWorker::commit_one_by_one(std::vector<CommitJob*>& jobs) {
  for (CommitJob* job : jobs) {
    std::vector<CommitJob*> alone = {job};
    commit(alone);
  }
}

// The results of all jobs, or why none of them was written.
Status SqliteWorker::try_to_commit(std::vector<CommitJob*>& jobs) {
  if (is_in_doubt_ || !database_) return fail(in_doubt());
  if (database_->has_moved()) {
    doubt();
    return fail(ErrorCode::internal, "store " + options_.path + " was taken away");
  }
  auto status = write(jobs);
  if (status) return status;
  database_->rollback();
  if (status.error().code == ErrorCode::unavailable) doubt();
  return status;
}

Status SqliteWorker::write(std::vector<CommitJob*>& jobs) {
  FDBPACK_TRY_VOID(database_->begin());
  ports::StoreRevision newest = revision_;
  for (CommitJob* job : jobs) {
    job->changes.clear();
    auto result = database_->apply(job->transaction, job->changes);
    if (!result && result.error().code != ErrorCode::conflict) {
      return fail(std::move(result).error());
    }
    if (result) newest = *result;
    job->result = std::move(result);
  }
  FDBPACK_TRY_VOID(database_->commit());
  revision_ = newest;
  return {};
}

}  // namespace fdbpack::store
