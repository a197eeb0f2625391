// SPDX-License-Identifier: Apache-2.0
//
// What happens to a store file before it is used: who it belongs to, whether it is whole, which
// format it has.
#include "adapters/store/set_aside.hpp"
#include "adapters/store/sqlite_database.hpp"
#include "adapters/store/sqlite_error.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace fdbpack::store {
namespace {

constexpr int kApplication = 0x66646270;  // "fdbp"

// From the format before each to the next; the first makes the tables.
constexpr std::array<const char*, SqliteDatabase::kFormat> kMigrations = {
    "CREATE TABLE entries(key BLOB PRIMARY KEY NOT NULL, value BLOB NOT NULL,"
    "  changed_at INTEGER NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE meta(name TEXT PRIMARY KEY NOT NULL, value INTEGER NOT NULL) WITHOUT ROWID;"
    "INSERT INTO meta(name, value) VALUES ('revision', 0);",
};

std::int64_t size_of(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 ? static_cast<std::int64_t>(found.st_size) : -1;
}

}  // namespace

Status SqliteDatabase::execute(const char* sql) {
  if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
    return fail(error("opening"));
  }
  return {};
}

Result<std::string> SqliteDatabase::ask(const char* sql) {
  Statement statement;
  FDBPACK_TRY_VOID(prepare_one(statement, sql));
  const int step = sqlite3_step(statement.get());
  if (step == SQLITE_DONE) return std::string();
  if (step != SQLITE_ROW) return fail(error("opening"));
  const auto* text = sqlite3_column_text(statement.get(), 0);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement.get(), 0));
  return text == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(text), size);
}

Result<std::unique_ptr<SqliteDatabase>> SqliteDatabase::connect(const SqliteOptions& options,
                                                                bool may_create) {
  // SQLite throws a log away whose database is empty. Such a pair is damage, not a new store.
  if (size_of(options.path) <= 0 && size_of(options.path + "-wal") > 0) {
    return fail(ErrorCode::corrupt,
                "store " + options.path + " is empty, but its log " + options.path + "-wal is not");
  }
  if (may_create) {
    // SQLite would let everybody read it. Nobody in this process has it open: we hold its lock.
    const int fd = ::open(options.path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640);
    if (fd >= 0) ::close(fd);
  }
  std::unique_ptr<SqliteDatabase> database(new SqliteDatabase(options.path));
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  if (sqlite3_open_v2(options.path.c_str(), &database->handle_, flags, nullptr) != SQLITE_OK) {
    return fail(database->error("opening"));
  }
  sqlite3_busy_timeout(database->handle_, static_cast<int>(options.busy_timeout.count()));
  FDBPACK_TRY_VOID(database->execute("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON"));
  return database;
}

Status SqliteDatabase::check_owner() {
  FDBPACK_TRY(const std::string application, ask("PRAGMA application_id"));
  FDBPACK_TRY(const std::string format, ask("PRAGMA user_version"));
  FDBPACK_TRY(const std::string tables, ask("SELECT count(*) FROM sqlite_schema"));
  if (application == "0" && format == "0" && tables == "0") return {};  // new
  if (application != std::to_string(kApplication)) {
    return fail(ErrorCode::invalid_argument,
                path_ + " is an SQLite database, but no store of a coordinator");
  }
  if (format.size() > 9 || std::stoi(format) > kFormat) {
    return fail(ErrorCode::unsupported, "store " + path_ + " has format " + format +
                                            ", which is newer than what this program knows (" +
                                            std::to_string(kFormat) + "); upgrade the program");
  }
  return {};
}

Status SqliteDatabase::check(bool everything) {
  FDBPACK_TRY(const std::string found,
              ask(everything ? "PRAGMA integrity_check(1)" : "PRAGMA quick_check(1)"));
  if (found == "ok") return {};
  return fail(ErrorCode::corrupt, "store " + path_ + " is damaged: " + found);
}

Status SqliteDatabase::migrate() {
  FDBPACK_TRY(const std::string before, ask("PRAGMA user_version"));
  for (auto format = static_cast<std::size_t>(std::stoul(before)); format < kFormat; ++format) {
    const std::string sql = "BEGIN IMMEDIATE;" + std::string(kMigrations.at(format)) +
                            "PRAGMA application_id = " + std::to_string(kApplication) +
                            ";PRAGMA user_version = " + std::to_string(format + 1) + ";COMMIT";
    if (auto status = execute(sql.c_str()); !status) {
      sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
      return fail(with_context(std::move(status).error(),
                               "bringing it to format " + std::to_string(format + 1)));
    }
  }
  return {};
}

Result<std::unique_ptr<SqliteDatabase>> SqliteDatabase::reopen(const SqliteOptions& options) {
  FDBPACK_TRY(auto database, connect(options, /*may_create=*/false));
  FDBPACK_TRY_VOID(database->check_owner());
  FDBPACK_TRY_VOID(database->execute("PRAGMA synchronous = FULL"));
  FDBPACK_TRY_VOID(database->prepare());
  return database;
}

Result<std::unique_ptr<SqliteDatabase>> SqliteDatabase::open(const SqliteOptions& options) {
  const auto try_to = [&options]() -> Result<std::unique_ptr<SqliteDatabase>> {
    FDBPACK_TRY(auto database, connect(options, /*may_create=*/true));
    FDBPACK_TRY_VOID(database->check_owner());
    FDBPACK_TRY_VOID(database->check(options.checks_everything));
    FDBPACK_TRY(const std::string mode, database->ask("PRAGMA journal_mode = WAL"));
    if (mode != "wal") {
      return fail(ErrorCode::unsupported, "store " + options.path +
                                              " is on a file system without shared memory; "
                                              "put it on a local disk");
    }
    FDBPACK_TRY_VOID(database->execute("PRAGMA synchronous = FULL"));
    FDBPACK_TRY_VOID(database->migrate());
    FDBPACK_TRY_VOID(database->prepare());
    return database;
  };
  auto database = try_to();
  if (database || database.error().code != ErrorCode::corrupt) return database;
  if (!options.sets_corrupt_aside) {
    database.error().message +=
        "; it was left as it is. With --recover it is set aside and a new one is built from what "
        "the agents report";
    return database;
  }
  FDBPACK_TRY(const std::string kept_as, set_aside(options.path));
  auto fresh = try_to();
  if (!fresh) {
    return fail(with_context(std::move(fresh).error(),
                             "the damaged store was kept as " + kept_as + "; making a new one"));
  }
  (*fresh)->kept_as_ = kept_as;
  return fresh;
}

}  // namespace fdbpack::store
