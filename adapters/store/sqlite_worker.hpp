// SPDX-License-Identifier: Apache-2.0
//
// The thread that owns a SqliteDatabase. Jobs are done in the order they came; commits that wait
// next to each other share one transaction of SQLite. Results are handed to `on_done` on the
// worker's thread, a batch at a time.
#pragma once

#include "adapters/store/sqlite_database.hpp"

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

namespace fdbpack::store {

class SqliteWorker {
 public:
  struct LoadJob {
    std::string prefix;
    ports::Store::OnLoaded on_loaded;
    std::uint64_t doubts_told = 0;  // to the caller, when it called
    std::optional<Result<ports::StoreSnapshot>> result;
  };
  struct CommitJob {
    ports::StoreTransaction transaction;
    ports::Store::OnCommitted on_committed;
    std::optional<Result<ports::StoreRevision>>
        result;                               // set before: an answer that waits its turn
    std::vector<ports::StoreChange> changes;  // what it did
    std::uint64_t doubts = 0;                 // so far, when it was answered
  };
  using Job = std::variant<LoadJob, CommitJob>;
  using OnDone = std::function<void(std::vector<Job>)>;

  static constexpr std::size_t kBatchMax = 256;

  SqliteWorker(SqliteOptions options, std::unique_ptr<SqliteDatabase> database,
               ports::StoreRevision revision, OnDone on_done);
  ~SqliteWorker();  // waits for the batch that is being done
  SqliteWorker(const SqliteWorker&) = delete;
  SqliteWorker& operator=(const SqliteWorker&) = delete;

  void add(Job job);

 private:
  void run();
  void load(LoadJob& job);
  void commit(std::vector<CommitJob*>& jobs);
  void commit_one_by_one(std::vector<CommitJob*>& jobs);
  [[nodiscard]] Status try_to_commit(std::vector<CommitJob*>& jobs);
  [[nodiscard]] Status write(std::vector<CommitJob*>& jobs);
  [[nodiscard]] Status open_again();
  void doubt();

  const SqliteOptions options_;
  std::unique_ptr<SqliteDatabase> database_;  // none: after an error, until the next load
  ports::StoreRevision revision_;             // the last that was seen
  bool is_in_doubt_ = false;
  std::uint64_t doubts_ = 0;
  const OnDone on_done_;

  std::mutex mutex_;
  std::condition_variable has_jobs_;
  std::deque<Job> jobs_;    // with mutex_
  bool is_ending_ = false;  // with mutex_
  std::thread thread_;
};

}  // namespace fdbpack::store
