// SPDX-License-Identifier: Apache-2.0
//
// The store of a single coordinator: one SQLite file, one process.
//
//   loop's thread                            worker's thread
//   load(), commit() ── jobs, in order ──►   all commits that have come meanwhile: one transaction
//   answers, in order ◄── post ───────────   of SQLite, one sync of the disk
//
// Whoever has the file leads: campaign() says so at once, and a second coordinator cannot even open
// it. After an error of the disk the file is closed, and opened again by the next load: what SQLite
// finds then is what a crash would have left.
#pragma once

#include "adapters/store/sqlite_database.hpp"
#include "ports/store.hpp"

#include <boost/asio/io_context.hpp>

#include <memory>
#include <string>

namespace fdbpack::store {

class SqliteStore final : public ports::Store {
 public:
  // Blocks while the file is checked. Errors as of SqliteDatabase::open(), and `already_exists`:
  // another coordinator has it.
  [[nodiscard]] static Result<std::unique_ptr<SqliteStore>> open(boost::asio::io_context& io,
                                                                 SqliteOptions options);
  // Waits for what is being written; what waits behind it is dropped without an answer.
  ~SqliteStore() override;
  SqliteStore(const SqliteStore&) = delete;
  SqliteStore& operator=(const SqliteStore&) = delete;

  // Where the damaged store is that this one replaces; empty: there was none.
  [[nodiscard]] const std::string& kept_as() const;

  void load(std::string prefix, OnLoaded on_loaded) override;
  void commit(ports::StoreTransaction transaction, OnCommitted on_committed) override;
  [[nodiscard]] std::unique_ptr<ports::StoreSubscription> campaign(ports::StoreLeader self,
                                                                   OnLeading on_change) override;
  [[nodiscard]] std::optional<ports::StoreLeader> leader() const override;
  [[nodiscard]] std::unique_ptr<ports::StoreSubscription> follow(ports::StoreRevision revision,
                                                                 OnChanges on_changes) override;

 private:
  class Impl;
  explicit SqliteStore(std::shared_ptr<Impl> impl);

  std::shared_ptr<Impl> impl_;
};

}  // namespace fdbpack::store
