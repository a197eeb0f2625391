// SPDX-License-Identifier: Apache-2.0
//
// The file of a SqliteStore: how it is opened, checked, brought to the newest format, read and
// written. Blocking; used by one thread at a time.
//
//   FILE         entries(key, value, changed_at, checksum), meta(revision)
//   FILE-wal     what was committed and is not in FILE yet
//   FILE-shm     an index of it
//   FILE.corrupt-YYYYMMDDTHHMMSSZ[-N], with -wal and -shm   set aside by recovery
//
//   application_id says that it is ours, user_version which format it has. SQLite does not notice a
//   byte that changed inside a value; the checksum of each row does.
#pragma once

#include "fdbpack/base/result.hpp"
#include "ports/store.hpp"

#include <sqlite3.h>

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace fdbpack::store {

struct SqliteOptions {
  std::string path;
  bool checks_everything = false;   // integrity_check in place of quick_check
  bool sets_corrupt_aside = false;  // and starts with an empty one
  std::chrono::milliseconds busy_timeout = std::chrono::seconds(2);
};

class SqliteDatabase {
 public:
  static constexpr int kFormat = 1;

  // `corrupt`: it cannot be read; `unsupported`: it is of a newer format; `invalid_argument`: it is
  // a database of somebody else. It is left as it is.
  [[nodiscard]] static Result<std::unique_ptr<SqliteDatabase>> open(const SqliteOptions& options);
  // One that was open before in this process: it must be there, and is not checked.
  [[nodiscard]] static Result<std::unique_ptr<SqliteDatabase>> reopen(const SqliteOptions& options);
  ~SqliteDatabase();
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;

  // Where the damaged one is now that this one replaces; empty: there was none.
  [[nodiscard]] const std::string& kept_as() const { return kept_as_; }

  [[nodiscard]] Result<ports::StoreSnapshot> load(const std::string& prefix);
  [[nodiscard]] Result<ports::StoreRevision> revision();

  // begin(), then apply() for each transaction, then commit() or rollback(). A transaction whose
  // conditions do not hold is a `conflict` and leaves the others alone; after any other error only
  // rollback() is left.
  [[nodiscard]] Status begin();
  [[nodiscard]] Result<ports::StoreRevision> apply(const ports::StoreTransaction& transaction,
                                                   std::vector<ports::StoreChange>& changes);
  // `unavailable` when it cannot be said whether it is on disk; the object is of no use then.
  [[nodiscard]] Status commit();
  void rollback();

  // The file was removed, renamed or replaced under us.
  [[nodiscard]] bool has_moved();

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

  explicit SqliteDatabase(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] static Result<std::unique_ptr<SqliteDatabase>> connect(const SqliteOptions& options,
                                                                       bool may_create);
  [[nodiscard]] Status check(bool everything);
  [[nodiscard]] Status check_owner();
  [[nodiscard]] Status migrate();
  [[nodiscard]] Status prepare();
  [[nodiscard]] Status execute(const char* sql);
  [[nodiscard]] Result<std::string> ask(const char* sql);
  [[nodiscard]] Status prepare_one(Statement& into, const char* sql);
  [[nodiscard]] Result<ports::StoreSnapshot> read_entries(const std::string& prefix);
  [[nodiscard]] Result<ports::StoreRevision> changed_at(const std::string& key);
  [[nodiscard]] Result<bool> write(const ports::StoreWrite& write, ports::StoreRevision revision);
  [[nodiscard]] Error error(std::string_view doing) const;

  const std::string path_;
  std::string kept_as_;
  sqlite3* handle_ = nullptr;
  Statement select_all_, select_from_, select_changed_, select_revision_, upsert_, erase_,
      update_revision_, begin_, commit_, rollback_;
  ::ino_t log_inode_ = 0;  // 0: not known yet
  // While a transaction is open: the last revision in it, and the last before it.
  ports::StoreRevision revision_ = 0;
  ports::StoreRevision revision_before_ = 0;
};

}  // namespace fdbpack::store
