// SPDX-License-Identifier: Apache-2.0
//
// A store of each kind for the same tests, and calls that wait for their answer.
#pragma once

#include "adapters/http/client.hpp"
#include "adapters/posix/steady_clock.hpp"
#include "adapters/store/etcd_store.hpp"
#include "adapters/store/memory_store.hpp"
#include "adapters/store/sqlite_store.hpp"
#include "tests/adapters/store/etcd_server.hpp"
#include "tests/support/temp_dir.hpp"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace fdbpack::test {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using ports::Store;
using ports::StoreChange;
using ports::StoreRevision;
using ports::StoreSnapshot;
using ports::StoreTransaction;
using ports::StoreWrite;

// The loop on which everything runs, and its clock.
struct Loop {
  boost::asio::io_context io{1};
  posix::SteadyClock clock{io};

  // Runs until `is_done`, at most `limit`, which is a last resort.
  [[nodiscard]] bool run_until(const std::function<bool()>& is_done,
                               std::chrono::milliseconds limit = 20s) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!is_done()) {
      if (std::chrono::steady_clock::now() > end) return false;
      io.restart();
      io.run_one_for(20ms);
    }
    return true;
  }

  Result<StoreRevision> commit(Store& store, StoreTransaction transaction) {
    std::optional<Result<StoreRevision>> result;
    store.commit(std::move(transaction), [&](auto answer) { result = std::move(answer); });
    EXPECT_TRUE(run_until([&] { return result.has_value(); })) << "a commit was not answered";
    return result ? *result : fail(ErrorCode::internal, "not answered");
  }
  Result<StoreSnapshot> load(Store& store, const std::string& prefix = "") {
    std::optional<Result<StoreSnapshot>> result;
    store.load(prefix, [&](auto answer) { result = std::move(answer); });
    EXPECT_TRUE(run_until([&] { return result.has_value(); })) << "a load was not answered";
    return result ? *result : fail(ErrorCode::internal, "not answered");
  }
};

// A coordinator, as far as its store goes: it campaigns and notes what it is told.
struct Candidate {
  Candidate(Loop& on, Store& with, const std::string& name) : loop(on) {
    subscription = with.campaign({name, "http://" + name + ":4480"}, [this](bool now) {
      leads = now;
      told.push_back(now);
    });
  }
  [[nodiscard]] bool wait(bool wanted, std::chrono::milliseconds limit = 20s) {
    return loop.run_until([&] { return leads == wanted; }, limit);
  }

  Loop& loop;
  bool leads = false;
  std::vector<bool> told;
  std::unique_ptr<ports::StoreSubscription> subscription;
};

inline StoreTransaction put(const std::string& key, const std::string& value) {
  return {{}, {{key, value}}};
}

// Makes stores that share their content.
class StoreWorld {
 public:
  virtual ~StoreWorld() = default;
  virtual std::unique_ptr<Store> make(Loop& loop) = 0;
  // All that was before now cannot be followed any more.
  virtual void compact(StoreRevision revision) = 0;
};

class MemoryWorld final : public StoreWorld {
 public:
  std::unique_ptr<Store> make(Loop& loop) override {
    return std::make_unique<store::MemoryStore>(loop.clock, disk);
  }
  void compact(StoreRevision) override { disk->compact(); }

  std::shared_ptr<store::MemoryDisk> disk = std::make_shared<store::MemoryDisk>(Duration(1s));
};

class SqliteWorld final : public StoreWorld {
 public:
  std::unique_ptr<Store> make(Loop& loop) override {
    store::SqliteOptions options;
    options.path = folder.file("store.db");
    auto opened = store::SqliteStore::open(loop.io, options);
    if (!opened) throw std::runtime_error(opened.error().message);
    return *std::move(opened);
  }
  void compact(StoreRevision) override {}  // forgets with the process

  support::TempDir folder;
};

// The lease is long enough that a busy machine does not lose it; shorter where a test waits for its
// end.
inline store::EtcdOptions quick_etcd_options(std::chrono::seconds lease = 4s) {
  store::EtcdOptions options;
  options.prefix = "/test/";
  options.lease = lease;
  options.timeout = 3s;
  options.seed = static_cast<std::uint64_t>(::getpid());
  return options;
}

inline std::unique_ptr<store::EtcdStore> make_etcd_store(
    Loop& loop, const std::vector<std::string>& urls,
    store::EtcdOptions options = quick_etcd_options()) {
  auto make_client = [&loop, urls](std::size_t endpoint) -> std::unique_ptr<ports::HttpClient> {
    return std::make_unique<http_client::Client>(loop.io, *http::parse_endpoint(urls[endpoint]));
  };
  return std::make_unique<store::EtcdStore>(loop.clock, std::move(options), urls.size(),
                                            std::move(make_client));
}

class EtcdWorld final : public StoreWorld {
 public:
  std::unique_ptr<Store> make(Loop& loop) override { return make_etcd_store(loop, {server.url()}); }
  void compact(StoreRevision revision) override {
    const auto answer = server.ask(
        "/v3/kv/compaction", R"({"physical":true,"revision":")" + std::to_string(revision) + "\"}");
    EXPECT_NE(answer.find("header"), std::string::npos) << answer;
  }

  EtcdServer server;
};

}  // namespace fdbpack::test
