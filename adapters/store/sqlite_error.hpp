// SPDX-License-Identifier: Apache-2.0
//
// SQLite's codes as ours.
#pragma once

#include "fdbpack/base/result.hpp"

#include <sqlite3.h>

#include <string>

namespace fdbpack::store {

[[nodiscard]] inline ErrorCode code_of_sqlite(int code) {
  switch (code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return ErrorCode::timed_out;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorCode::corrupt;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return ErrorCode::permission_denied;
    case SQLITE_TOOBIG:
      return ErrorCode::invalid_argument;
    default:
      return ErrorCode::internal;
  }
}

[[nodiscard]] inline bool is_disk_error(int code) {
  return (code & 0xFF) == SQLITE_IOERR;
}

// What went wrong last on `database`, which may be null.
[[nodiscard]] inline Error sqlite_error(sqlite3* database, const std::string& doing) {
  const int code = database == nullptr ? SQLITE_NOMEM : sqlite3_extended_errcode(database);
  std::string message = doing + ": " + sqlite3_errstr(code);
  if ((code & 0xFF) == SQLITE_FULL) message = doing + ": no space left on the disk";
  if ((code & 0xFF) == SQLITE_BUSY) message = doing + ": it is locked by another program";
  return Error{code_of_sqlite(code), message + " (SQLite " + std::to_string(code) + ")"};
}

}  // namespace fdbpack::store
