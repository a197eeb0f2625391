// SPDX-License-Identifier: Apache-2.0
#include "adapters/store/sqlite_database.hpp"

#include "adapters/store/limits.hpp"
#include "adapters/store/sqlite_error.hpp"
#include "fdbpack/base/check.hpp"

#include <sys/stat.h>

#include <utility>

namespace fdbpack::store {
namespace {

using ports::StoreRevision;

// FNV-1a. Each part is preceded by its length, so that nothing can move from one to the other.
class Checksum {
 public:
  void add(std::string_view bytes) {
    add(static_cast<std::uint64_t>(bytes.size()));
    for (const char c : bytes)
      add_byte(static_cast<unsigned char>(c));
  }
  void add(std::uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8)
      add_byte(static_cast<unsigned char>(number >> shift & 0xFF));
  }
  [[nodiscard]] std::int64_t value() const { return static_cast<std::int64_t>(state_); }

 private:
  void add_byte(unsigned char byte) { state_ = (state_ ^ byte) * 0x100000001B3U; }
  std::uint64_t state_ = 0xCBF29CE484222325U;
};

std::int64_t checksum_of(std::string_view key, std::string_view value, StoreRevision changed_at) {
  Checksum sum;
  sum.add(key);
  sum.add(value);
  sum.add(changed_at);
  return sum.value();
}

std::string_view column_bytes(sqlite3_stmt* statement, int column) {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement, column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
  return data == nullptr ? std::string_view() : std::string_view(data, size);
}

// The bytes must stay until the statement is reset.
void bind_bytes(sqlite3_stmt* statement, int index, std::string_view bytes) {
  // A null pointer would bind NULL in place of an empty blob.
  sqlite3_bind_blob64(statement, index, bytes.empty() ? "" : bytes.data(), bytes.size(),
                      SQLITE_STATIC);
}

void bind_number(sqlite3_stmt* statement, int index, std::uint64_t number) {
  sqlite3_bind_int64(statement, index, static_cast<sqlite3_int64>(number));
}

class ResetAtEnd {
 public:
  explicit ResetAtEnd(sqlite3_stmt* statement) : statement_(statement) {}
  ~ResetAtEnd() { sqlite3_reset(statement_); }
  ResetAtEnd(const ResetAtEnd&) = delete;
  ResetAtEnd& operator=(const ResetAtEnd&) = delete;

 private:
  sqlite3_stmt* statement_;
};

}  // namespace

SqliteDatabase::~SqliteDatabase() {
  for (Statement* statement :
       {&select_all_, &select_from_, &select_changed_, &select_revision_, &upsert_, &erase_,
        &update_revision_, &begin_, &commit_, &rollback_}) {
    statement->reset();
  }
  sqlite3_close(handle_);
}

Error SqliteDatabase::error(std::string_view doing) const {
  return sqlite_error(handle_, std::string(doing) + " store " + path_);
}

Status SqliteDatabase::prepare_one(Statement& into, const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(handle_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) !=
      SQLITE_OK) {
    return fail(error("opening"));
  }
  into.reset(statement);
  return {};
}

Status SqliteDatabase::prepare() {
  const std::pair<Statement*, const char*> statements[] = {
      {&select_all_,
       "SELECT key, value, changed_at, checksum FROM entries WHERE key >= ?1 "
       "AND key < ?2 ORDER BY key"},
      {&select_from_,
       "SELECT key, value, changed_at, checksum FROM entries WHERE key >= ?1 "
       "ORDER BY key"},
      {&select_changed_, "SELECT changed_at FROM entries WHERE key = ?1"},
      {&select_revision_, "SELECT value FROM meta WHERE name = 'revision'"},
      {&upsert_,
       "INSERT INTO entries(key, value, changed_at, checksum) VALUES (?1, ?2, ?3, ?4) "
       "ON CONFLICT(key) DO UPDATE SET value = ?2, changed_at = ?3, checksum = ?4"},
      {&erase_, "DELETE FROM entries WHERE key = ?1"},
      {&update_revision_, "UPDATE meta SET value = ?1 WHERE name = 'revision'"},
      {&begin_, "BEGIN IMMEDIATE"},
      {&commit_, "COMMIT"},
      {&rollback_, "ROLLBACK"},
  };
  for (const auto& [into, sql] : statements)
    FDBPACK_TRY_VOID(prepare_one(*into, sql));
  FDBPACK_TRY_VOID(revision());  // opens the log, if that is not done yet
  [[maybe_unused]] const bool is_log_noted = has_moved();
  return {};
}

Result<ports::StoreSnapshot> SqliteDatabase::load(const std::string& prefix) {
  FDBPACK_TRY_VOID(execute("BEGIN"));
  auto snapshot = read_entries(prefix);
  rollback();
  return snapshot;
}

Result<ports::StoreSnapshot> SqliteDatabase::read_entries(const std::string& prefix) {
  ports::StoreSnapshot snapshot;
  FDBPACK_TRY(snapshot.revision, revision());
  const std::string end = prefix_end(prefix);
  sqlite3_stmt* select = end.empty() ? select_from_.get() : select_all_.get();
  const ResetAtEnd reset(select);
  bind_bytes(select, 1, prefix);
  if (!end.empty()) bind_bytes(select, 2, end);
  int step = 0;
  while ((step = sqlite3_step(select)) == SQLITE_ROW) {
    ports::StoreEntry entry;
    entry.key = column_bytes(select, 0);
    entry.value = column_bytes(select, 1);
    entry.changed_at = static_cast<StoreRevision>(sqlite3_column_int64(select, 2));
    if (checksum_of(entry.key, entry.value, entry.changed_at) != sqlite3_column_int64(select, 3)) {
      return fail(ErrorCode::corrupt,
                  "store " + path_ + ": the value of '" + entry.key + "' is damaged");
    }
    snapshot.entries.push_back(std::move(entry));
  }
  if (step != SQLITE_DONE) return fail(error("reading"));
  return snapshot;
}

Result<StoreRevision> SqliteDatabase::revision() {
  const ResetAtEnd reset(select_revision_.get());
  const int step = sqlite3_step(select_revision_.get());
  if (step == SQLITE_ROW) {
    return static_cast<StoreRevision>(sqlite3_column_int64(select_revision_.get(), 0));
  }
  if (step == SQLITE_DONE) {
    return fail(ErrorCode::corrupt, "store " + path_ + ": its revision is missing");
  }
  return fail(error("reading"));
}

Status SqliteDatabase::begin() {
  const int step = sqlite3_step(begin_.get());
  auto status = step == SQLITE_DONE ? Status() : Status(fail(error("writing")));
  sqlite3_reset(begin_.get());
  if (!status) return status;
  FDBPACK_TRY(revision_, revision());
  revision_before_ = revision_;
  return {};
}

Result<StoreRevision> SqliteDatabase::changed_at(const std::string& key) {
  const ResetAtEnd reset(select_changed_.get());
  bind_bytes(select_changed_.get(), 1, key);
  const int step = sqlite3_step(select_changed_.get());
  if (step == SQLITE_DONE) return StoreRevision{0};
  if (step != SQLITE_ROW) return fail(error("reading"));
  return static_cast<StoreRevision>(sqlite3_column_int64(select_changed_.get(), 0));
}

Result<bool> SqliteDatabase::write(const ports::StoreWrite& write, StoreRevision revision) {
  sqlite3_stmt* statement = write.value ? upsert_.get() : erase_.get();
  const ResetAtEnd reset(statement);
  bind_bytes(statement, 1, write.key);
  if (write.value) {
    bind_bytes(statement, 2, *write.value);
    bind_number(statement, 3, revision);
    sqlite3_bind_int64(statement, 4, checksum_of(write.key, *write.value, revision));
  }
  if (sqlite3_step(statement) != SQLITE_DONE) return fail(error("writing"));
  return sqlite3_changes(handle_) > 0;
}

Result<StoreRevision> SqliteDatabase::apply(const ports::StoreTransaction& transaction,
                                            std::vector<ports::StoreChange>& changes) {
  for (const auto& condition : transaction.conditions) {
    FDBPACK_TRY(const StoreRevision is, changed_at(condition.key));
    if (is != condition.changed_at) return fail(changed_since(condition.key));
  }
  const StoreRevision next = revision_ + 1;
  for (const auto& one : transaction.writes) {
    auto has_changed = write(one, next);
    if (!has_changed) return fail(std::move(has_changed).error());
    if (*has_changed) changes.push_back({one.key, one.value, next});
  }
  if (!changes.empty()) revision_ = next;
  return revision_;
}

Status SqliteDatabase::commit() {
  if (revision_ == revision_before_) {
    rollback();
    return {};
  }
  {
    const ResetAtEnd reset(update_revision_.get());
    bind_number(update_revision_.get(), 1, revision_);
    if (sqlite3_step(update_revision_.get()) != SQLITE_DONE) return fail(error("writing"));
  }
  const int step = sqlite3_step(commit_.get());
  auto status = step == SQLITE_DONE ? Status() : Status(fail(error("writing")));
  sqlite3_reset(commit_.get());
  // The end of a transaction may have reached the disk when an error of the disk was told.
  if (!status && is_disk_error(step)) status.error().code = ErrorCode::unavailable;
  if (status && has_moved()) {
    return fail(ErrorCode::unavailable, "store " + path_ + " was taken away while it was written");
  }
  return status;
}

void SqliteDatabase::rollback() {
  // After some errors SQLite has rolled back already, and says so with an error.
  if (sqlite3_get_autocommit(handle_) != 0) return;
  sqlite3_step(rollback_.get());
  sqlite3_reset(rollback_.get());
}

bool SqliteDatabase::has_moved() {
  int has_moved = 0;
  if (sqlite3_file_control(handle_, "main", SQLITE_FCNTL_HAS_MOVED, &has_moved) == SQLITE_OK &&
      has_moved != 0) {
    return true;
  }
  // SQLite asks this of the database only. Its log stays one file while it is open.
  struct stat log {};
  const bool has_log = ::stat((path_ + "-wal").c_str(), &log) == 0;
  if (log_inode_ == 0 && has_log) log_inode_ = log.st_ino;
  return log_inode_ != 0 && (!has_log || log.st_ino != log_inode_);
}

}  // namespace fdbpack::store
