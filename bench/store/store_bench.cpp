// SPDX-License-Identifier: Apache-2.0
//
// What a decision costs, and a start.
//
//   store_bench FOLDER [URL of an etcd]
//
// The floor is what the disk alone takes: a write of 4 KiB and fdatasync(), and SQLite by itself
// with the same settings, one transaction at a time. Commits are made one after the other and 64 at
// once; a load reads 100,000 entries of 300 bytes.
#include "adapters/http/client.hpp"
#include "adapters/posix/steady_clock.hpp"
#include "adapters/store/etcd_store.hpp"
#include "adapters/store/sqlite_store.hpp"

#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <sqlite3.h>

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace {

namespace http_client = fdbpack::http_client;
namespace http = fdbpack::http;
namespace ports = fdbpack::ports;
namespace posix = fdbpack::posix;
namespace store = fdbpack::store;
using fdbpack::Result;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using Seconds = std::chrono::duration<double>;

constexpr auto kTime = 2s;
constexpr int kEntries = 100'000;

[[noreturn]] void give_up(const std::string& why) {
  fmt::print(stderr, "store_bench: {}\n", why);
  std::exit(1);
}

double now() {
  return Seconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Per second, of something done again and again for a while.
double rate(const std::function<void()>& act) {
  const double begin = now();
  int count = 0;
  while (now() - begin < Seconds(kTime).count()) {
    act();
    ++count;
  }
  return count / (now() - begin);
}

double rate_of_disk(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) give_up("cannot write " + path);
  const std::string page(4096, 'x');
  const double result = rate([&] {
    if (::write(fd, page.data(), page.size()) != 4096 || ::fdatasync(fd) != 0) give_up("no disk");
  });
  ::close(fd);
  return result;
}

double rate_of_sqlite(const std::string& path) {
  sqlite3* handle = nullptr;
  sqlite3_open(path.c_str(), &handle);
  const auto run = [&](const char* sql) {
    if (sqlite3_exec(handle, sql, nullptr, nullptr, nullptr) != SQLITE_OK) give_up(sql);
  };
  run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t(k PRIMARY KEY, v)");
  int i = 0;
  const double result = rate([&] {
    const std::string sql =
        fmt::format("INSERT OR REPLACE INTO t VALUES ({}, '{:0300}')", ++i % 1000, i);
    run(sql.c_str());
  });
  sqlite3_close(handle);
  return result;
}

class Bench {
 public:
  explicit Bench(boost::asio::io_context& io) : io_(io) {}

  void run_until(const std::function<bool()>& is_done) {
    while (!is_done()) {
      io_.restart();
      io_.run_one_for(100ms);
    }
  }
  std::unique_ptr<ports::StoreSubscription> lead(ports::Store& on) {
    bool leads = false;
    auto campaign = on.campaign({"bench", ""}, [&leads](bool is) { leads = is; });
    run_until([&] { return leads; });
    return campaign;
  }
  double commits(ports::Store& on, int at_once) {
    const double begin = now();
    int done = 0, under_way = 0, next = 0;
    while (now() - begin < Seconds(kTime).count()) {
      while (under_way < at_once) {
        ++under_way;
        ports::StoreTransaction one{
            {}, {{fmt::format("bench/{}", ++next % 1000), std::string(300, 'v')}}};
        on.commit(std::move(one), [&](const Result<ports::StoreRevision>& result) {
          if (!result) give_up(result.error().message);
          --under_way;
          ++done;
        });
      }
      const int before = done;
      run_until([&] { return done > before; });
    }
    const double result = done / (now() - begin);
    run_until([&] { return under_way == 0; });
    return result;
  }
  void fill(ports::Store& on) {
    int done = 0;
    constexpr int kPerCommit = 2000;
    for (int begin = 0; begin < kEntries; begin += kPerCommit) {
      ports::StoreTransaction part;
      for (int i = begin; i < begin + kPerCommit; ++i) {
        part.writes.push_back(
            {fmt::format("clusters/c/groups/storage-{:06}", i), std::string(300, 'v')});
      }
      on.commit(std::move(part), [&](const auto& result) {
        if (!result) give_up(result.error().message);
        ++done;
      });
    }
    run_until([&] { return done == kEntries / kPerCommit; });
  }
  double load(ports::Store& on) {
    const double begin = now();
    bool is_done = false;
    on.load("", [&](const Result<ports::StoreSnapshot>& result) {
      if (!result) give_up(result.error().message);
      if (result->entries.size() < kEntries) give_up("entries are missing");
      is_done = true;
    });
    run_until([&] { return is_done; });
    return now() - begin;
  }

 private:
  boost::asio::io_context& io_;
};

void bench_sqlite(const std::string& folder, double floor) {
  boost::asio::io_context io{1};
  Bench bench(io);
  store::SqliteOptions options;
  options.path = folder + "/store.db";
  auto opened = store::SqliteStore::open(io, options);
  if (!opened) give_up(opened.error().message);
  auto campaign = bench.lead(**opened);
  const double single = bench.commits(**opened, 1);
  const double many = bench.commits(**opened, 64);
  fmt::print("sqlite  commits one by one  {:8.0f}/s  {:.2f} of bare SQLite\n", single,
             single / floor);
  fmt::print("sqlite  commits, 64 at once {:8.0f}/s  {:.2f} of bare SQLite\n", many, many / floor);
  bench.fill(**opened);
  campaign.reset();
  opened->reset();
  const double begin = now();
  auto again = store::SqliteStore::open(io, options);
  if (!again) give_up(again.error().message);
  const double checked = now() - begin;
  const double loaded = bench.load(**again);
  fmt::print("sqlite  start with {} entries: check {:.2f} s, load {:.2f} s; budget 2 s\n", kEntries,
             checked, loaded);
}

void bench_etcd(const std::string& url) {
  boost::asio::io_context io{1};
  posix::SteadyClock clock(io);
  Bench bench(io);
  const auto endpoint = http::parse_endpoint(url);
  if (!endpoint) give_up(endpoint.error().message);
  store::EtcdStore etcd(clock, {}, 1, [&](std::size_t) {
    return std::make_unique<http_client::Client>(io, *endpoint);
  });
  const auto campaign = bench.lead(etcd);
  fmt::print("etcd    commits one by one  {:8.0f}/s\n", bench.commits(etcd, 1));
  bench.fill(etcd);
  fmt::print("etcd    load of {} entries: {:.2f} s\n", kEntries, bench.load(etcd));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) give_up("which folder? (and which etcd)");
  const std::string folder = std::string(argv[1]) + "/store-bench-" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  const double disk = rate_of_disk(folder + "/disk");
  const double sqlite = rate_of_sqlite(folder + "/bare.db");
  fmt::print("floor   write and fdatasync {:8.0f}/s\n", disk);
  fmt::print("floor   bare SQLite         {:8.0f}/s  {:.2f} of the disk\n", sqlite, sqlite / disk);
  bench_sqlite(folder, sqlite);
  if (argc > 2) bench_etcd(argv[2]);
  std::filesystem::remove_all(folder);
  return 0;
}
