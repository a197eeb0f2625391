// SPDX-License-Identifier: Apache-2.0
//
// What can happen to a file, with real files.
#include "tests/adapters/store/store_world.hpp"
#include "tests/support/files.hpp"

#include <gmock/gmock.h>
#include <sqlite3.h>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace fdbpack::test {
namespace {

namespace fs = std::filesystem;
using store::SqliteOptions;
using store::SqliteStore;
using testing::HasSubstr;

void overwrite(const std::string& path, std::size_t at, const std::string& bytes) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(at));
  file << bytes;
}

// Somebody else with the same file.
class OtherProgram {
 public:
  explicit OtherProgram(const std::string& path) {
    EXPECT_EQ(sqlite3_open(path.c_str(), &handle_), SQLITE_OK);
  }
  ~OtherProgram() { sqlite3_close(handle_); }
  OtherProgram(const OtherProgram&) = delete;
  OtherProgram& operator=(const OtherProgram&) = delete;

  void run(const std::string& sql) {
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK)
        << sql << ": " << (message == nullptr ? "" : message);
    sqlite3_free(message);
  }

 private:
  sqlite3* handle_ = nullptr;
};

class SqliteStoreTest : public testing::Test {
 protected:
  Result<std::unique_ptr<SqliteStore>> try_to_open() { return SqliteStore::open(loop.io, options); }
  void open() {
    auto opened = try_to_open();
    ASSERT_TRUE(opened) << opened.error().message;
    store = *std::move(opened);
    candidate = std::make_unique<Candidate>(loop, *store, "one");
    ASSERT_TRUE(candidate->wait(true));
  }
  void close() {
    candidate.reset();
    store.reset();
  }
  void expect_refused(const Result<StoreRevision>& result, ErrorCode code,
                      const std::string& says) {
    ASSERT_FALSE(result);
    EXPECT_EQ(to_string(result.error().code), to_string(code)) << result.error().message;
    EXPECT_THAT(result.error().message, HasSubstr(says));
  }
  std::vector<std::string> set_aside() const {
    std::vector<std::string> names;
    for (const auto& file : fs::directory_iterator(fs::path(options.path).parent_path())) {
      const std::string name = file.path().string();
      if (name.find(".corrupt-") != std::string::npos) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  // A store with some pages, closed.
  void fill(int count = 300) {
    open();
    StoreTransaction transaction;
    for (int i = 0; i < count; ++i)
      transaction.writes.push_back({"key/" + std::to_string(i), std::string(200, 'v')});
    ASSERT_TRUE(loop.commit(*store, transaction));
    close();
  }

  support::TempDir folder;
  Loop loop;
  SqliteOptions options{folder.file("store.db"), false, false, 200ms};
  std::unique_ptr<SqliteStore> store;
  std::unique_ptr<Candidate> candidate;
};

TEST_F(SqliteStoreTest, IsReadableByItsOwnerAndGroupOnly) {
  open();
  struct stat found {};
  ASSERT_EQ(::stat(options.path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07U, 0U);
}

TEST_F(SqliteStoreTest, ASecondCoordinatorFailsAtOnceAndNamesTheFirst) {
  open();
  const auto second = try_to_open();
  ASSERT_FALSE(second);
  EXPECT_EQ(to_string(second.error().code), to_string(ErrorCode::already_exists));
  EXPECT_THAT(second.error().message, HasSubstr("process " + std::to_string(::getpid())));
  EXPECT_TRUE(loop.commit(*store, put("a", "1"))) << "the first is not disturbed";
  close();
  open();
}

TEST_F(SqliteStoreTest, OthersMayReadMeanwhileForABackup) {
  open();
  ASSERT_TRUE(loop.commit(*store, put("a", "1")));
  OtherProgram(options.path).run("VACUUM INTO '" + folder.file("backup.db") + "'");
  ASSERT_TRUE(loop.commit(*store, put("a", "2")));
  close();
  options.path = folder.file("backup.db");
  open();
  EXPECT_EQ(loop.load(*store)->entries.at(0).value, "1");
}

TEST_F(SqliteStoreTest, RefusesAFileOfANewerFormatAndLeavesItAlone) {
  fill(1);
  OtherProgram(options.path).run("PRAGMA user_version = 7");
  const std::string before = read_file(options.path);
  options.sets_corrupt_aside = true;
  const auto opened = try_to_open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(to_string(opened.error().code), to_string(ErrorCode::unsupported));
  EXPECT_THAT(opened.error().message, HasSubstr("format 7"));
  EXPECT_EQ(read_file(options.path), before);
}

TEST_F(SqliteStoreTest, RefusesADatabaseOfSomebodyElse) {
  OtherProgram(options.path).run("CREATE TABLE photos(name TEXT)");
  options.sets_corrupt_aside = true;
  const auto opened = try_to_open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(to_string(opened.error().code), to_string(ErrorCode::invalid_argument));
  EXPECT_TRUE(set_aside().empty());
}

// Each way of being damaged: found at the start, left alone without --recover, kept with it.
struct Damage {
  std::string name;
  std::function<void(const std::string& path)> act;
};

void PrintTo(const Damage& damage, std::ostream* to) {
  *to << damage.name;
}

std::string name_of(const testing::TestParamInfo<Damage>& one) {
  return one.param.name;
}

class DamagedStoreTest : public SqliteStoreTest, public testing::WithParamInterface<Damage> {};

TEST_P(DamagedStoreTest, IsLeftAloneAndThenSetAside) {
  fill();
  GetParam().act(options.path);
  const std::string before = read_file(options.path);
  const std::string log_before = read_file(options.path + "-wal");
  for (int start = 0; start < 2; ++start) {  // restarting does not help
    const auto opened = try_to_open();
    ASSERT_FALSE(opened);
    EXPECT_EQ(to_string(opened.error().code), to_string(ErrorCode::corrupt));
    EXPECT_THAT(opened.error().message, HasSubstr(options.path));
    EXPECT_THAT(opened.error().message, HasSubstr("--recover"));
    EXPECT_EQ(read_file(options.path), before);
    EXPECT_TRUE(set_aside().empty());
  }
  options.sets_corrupt_aside = true;
  open();
  ASSERT_FALSE(store->kept_as().empty());
  EXPECT_EQ(read_file(store->kept_as()), before);
  EXPECT_EQ(read_file(store->kept_as() + "-wal"), log_before);
  EXPECT_TRUE(loop.load(*store)->entries.empty());
  ASSERT_TRUE(loop.commit(*store, put("a", "1")));
  close();
  // It is not done a second time to the good one.
  const auto kept = set_aside();
  open();
  EXPECT_EQ(store->kept_as(), "");
  EXPECT_EQ(set_aside(), kept);
  EXPECT_EQ(loop.load(*store)->entries.size(), 1U);
}

const std::vector<Damage> kDamages = {
    {"NoDatabase", [](const auto& path) { std::ofstream(path, std::ios::trunc) << "hello world"; }},
    {"HeaderOverwritten", [](const auto& path) { overwrite(path, 0, std::string(50, 'x')); }},
    {"PageOverwritten",
     [](const auto& path) { overwrite(path, 3 * 4096, std::string(4096, 'x')); }},
    {"CutOff", [](const auto& path) { fs::resize_file(path, fs::file_size(path) / 2); }},
    {"EmptyButForItsLog",
     [](const auto& path) {
       fs::resize_file(path, 0);
       std::ofstream(path + "-wal") << std::string(5000, 'w');
     }},
    {"GoneButForItsLog",
     [](const auto& path) {
       fs::remove(path);
       std::ofstream(path + "-wal") << std::string(5000, 'w');
     }},
};

INSTANTIATE_TEST_SUITE_P(Damages, DamagedStoreTest, testing::ValuesIn(kDamages), name_of);

TEST_F(SqliteStoreTest, NoticesAByteThatChangedInsideAValue) {
  open();
  ASSERT_TRUE(loop.commit(*store, put("clusters/one/spec", "generation seven")));
  close();
  const std::string bytes = read_file(options.path);
  const auto at = bytes.find("generation seven");
  ASSERT_NE(at, std::string::npos);
  overwrite(options.path, at + 11, "e");
  open();
  const auto snapshot = loop.load(*store);
  ASSERT_FALSE(snapshot);
  EXPECT_EQ(to_string(snapshot.error().code), to_string(ErrorCode::corrupt));
  EXPECT_THAT(snapshot.error().message, HasSubstr("clusters/one/spec"));
}

TEST_F(SqliteStoreTest, ALockedStoreIsToldAndWorksAgainAfterwards) {
  open();
  {
    OtherProgram other(options.path);
    other.run("BEGIN IMMEDIATE");
    expect_refused(loop.commit(*store, put("a", "1")), ErrorCode::timed_out, "locked");
    EXPECT_TRUE(loop.load(*store)) << "reading goes on";
  }
  EXPECT_TRUE(loop.commit(*store, put("a", "2")));
}

TEST_F(SqliteStoreTest, AStoreTakenAwayIsNotWrittenInSilence) {
  for (const std::string gone : {"", "-wal"}) {
    SCOPED_TRACE("removed: store.db" + gone);
    open();
    ASSERT_TRUE(loop.commit(*store, put("a", "1")));
    fs::rename(options.path + gone, folder.file("elsewhere"));
    expect_refused(loop.commit(*store, put("a", "2")), ErrorCode::internal, "taken away");
    expect_refused(loop.commit(*store, put("a", "3")), ErrorCode::conflict, "in doubt");
    if (gone.empty()) {
      EXPECT_FALSE(loop.load(*store)) << "it is not made anew behind our back";
      EXPECT_FALSE(fs::exists(options.path));
    }
    fs::rename(folder.file("elsewhere"), options.path + gone);
    const auto snapshot = loop.load(*store);
    ASSERT_TRUE(snapshot) << snapshot.error().message;
    EXPECT_EQ(snapshot->entries.at(0).value, "1");
    EXPECT_TRUE(loop.commit(*store, put("a", "4")));
    close();
  }
}

TEST_F(SqliteStoreTest, AnOlderCopyPutInItsPlaceIsNotTakenForTheStore) {
  open();
  ASSERT_TRUE(loop.commit(*store, put("a", "1")));
  OtherProgram(options.path).run("VACUUM INTO '" + folder.file("backup.db") + "'");
  ASSERT_TRUE(loop.commit(*store, put("a", "2")));
  fs::remove(options.path + "-wal");
  fs::rename(folder.file("backup.db"), options.path);
  EXPECT_FALSE(loop.commit(*store, put("a", "3")));
  const auto snapshot = loop.load(*store);
  ASSERT_FALSE(snapshot);
  EXPECT_THAT(snapshot.error().message, HasSubstr("went back"));
}

// A limit on the size of files makes writes fail, as on a disk that breaks.
TEST_F(SqliteStoreTest, AnErrorOfTheDiskLeavesADoubtThatALoadEnds) {
  open();
  ASSERT_TRUE(loop.commit(*store, put("a", "1")));
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit tight{fs::file_size(options.path + "-wal") + 100, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  const auto first = loop.commit(*store, put("a", std::string(9000, 'x')));
  const auto behind = loop.commit(*store, put("b", "2"));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  expect_refused(first, ErrorCode::unavailable, "disk I/O error");
  expect_refused(behind, ErrorCode::conflict, "in doubt");
  const auto snapshot = loop.load(*store);
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  ASSERT_EQ(snapshot->entries.size(), 1U);
  EXPECT_TRUE(loop.commit(*store, put("b", "3")));
  const auto shown = snapshot->entries.at(0).value;
  close();
  open();
  EXPECT_EQ(loop.load(*store)->entries.at(0).value, shown) << "what the load showed stays so";
}

TEST_F(SqliteStoreTest, ALoadCalledBeforeTheDoubtWasToldDoesNotEndIt) {
  open();
  ASSERT_TRUE(loop.commit(*store, put("a", "1")));
  fs::rename(options.path, folder.file("elsewhere"));
  std::vector<bool> results;
  const auto note = [&results](const auto& result) { results.push_back(result.has_value()); };
  store->commit(put("a", "2"), [&](const auto& result) {
    note(result);
    fs::rename(folder.file("elsewhere"), options.path);
  });
  store->load("", note);
  store->commit(put("b", "3"), note);
  ASSERT_TRUE(loop.run_until([&] { return results.size() == 3; }));
  EXPECT_FALSE(results[0]);
  EXPECT_FALSE(results[2]) << "it was meant to come after the one that failed";
  ASSERT_TRUE(loop.load(*store));
  EXPECT_TRUE(loop.commit(*store, put("b", "4")));
}

// A small disk of our own, in a mount namespace of our own.
class SmallDiskTest : public SqliteStoreTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "mounting a small disk takes root";
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
      GTEST_SKIP() << "no mount namespace: " << std::strerror(errno);
    }
    disk = folder.file("disk");
    fs::create_directory(disk);
    if (::mount("none", disk.c_str(), "tmpfs", 0, "size=512k") != 0) {
      GTEST_SKIP() << "no tmpfs: " << std::strerror(errno);
    }
    is_mounted = true;
    options.path = disk + "/store.db";
  }
  void TearDown() override {
    close();
    if (is_mounted) ::umount2(disk.c_str(), MNT_DETACH);
  }

  std::string disk;
  bool is_mounted = false;
};

TEST_F(SmallDiskTest, AFullDiskIsToldAndLosesNothing) {
  open();
  ASSERT_TRUE(loop.commit(*store, put("a", "1")));
  expect_refused(loop.commit(*store, put("big", std::string(700'000, 'x'))), ErrorCode::internal,
                 "no space");
  const auto snapshot = loop.load(*store);
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->entries.size(), 1U);
  ASSERT_TRUE(loop.commit(*store, put("a", "2"))) << "there is space for a small one";
  close();
  open();
  EXPECT_EQ(loop.load(*store)->entries.at(0).value, "2");
}

TEST_F(SmallDiskTest, OneTooLargeForTheDiskDoesNotTakeTheOthersWithIt) {
  open();
  std::vector<bool> results;
  const auto note = [&results](const auto& result) { results.push_back(result.has_value()); };
  for (int i = 0; i < 10; ++i) {
    const std::size_t size = i == 4 ? 700'000 : 10;
    store->commit(put("k" + std::to_string(i), std::string(size, 'x')), note);
  }
  ASSERT_TRUE(loop.run_until([&] { return results.size() == 10; }));
  std::vector<bool> expected(10, true);
  expected[4] = false;
  EXPECT_EQ(results, expected);
  EXPECT_EQ(loop.load(*store)->entries.size(), 9U);
}

TEST_F(SmallDiskTest, ADiskThatBecomesReadOnlyIsTold) {
  open();
  ASSERT_TRUE(loop.commit(*store, put("a", "1")));
  close();
  ASSERT_EQ(::mount("none", disk.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr), 0);
  const auto opened = try_to_open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(to_string(opened.error().code), to_string(ErrorCode::permission_denied))
      << opened.error().message;
  ASSERT_EQ(::mount("none", disk.c_str(), "tmpfs", MS_REMOUNT, nullptr), 0);
  open();
  EXPECT_EQ(loop.load(*store)->entries.size(), 1U);
}

// A child commits and says each revision that it was told; it is killed at some moment.
TEST_F(SqliteStoreTest, WhatWasAnsweredSurvivesKill9) {
  for (int round = 0; round < 3; ++round) {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      Loop own;
      auto opened = SqliteStore::open(own.io, options);
      if (!opened) ::_exit(1);
      Candidate leader(own, **opened, "child");
      if (!leader.wait(true)) ::_exit(2);
      int said = 0;
      for (int i = 0; said < 1'000'000; ++i) {
        (*opened)->commit(put("round" + std::to_string(round), std::to_string(i)),
                          [&, i](const auto& result) {
                            if (!result) ::_exit(3);
                            said = i + 1;
                            const std::string line = std::to_string(i) + "\n";
                            if (::write(pipe[1], line.data(), line.size()) < 0) ::_exit(4);
                          });
        own.io.restart();
        own.io.poll();
        if (i - said > 50 && !own.run_until([&] { return said > i - 20; })) ::_exit(5);
      }
      ::_exit(0);
    }
    ::close(pipe[1]);
    std::string told;
    std::array<char, 4096> buffer{};
    ssize_t count = 0;
    bool is_killed = false;
    while ((count = ::read(pipe[0], buffer.data(), buffer.size())) > 0) {
      told.append(buffer.data(), static_cast<std::size_t>(count));
      if (!is_killed && told.size() > 400U * static_cast<unsigned>(round + 1)) {
        ::kill(child, SIGKILL);
        is_killed = true;
      }
    }
    ::close(pipe[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "exit " << WEXITSTATUS(status);
    told.resize(told.rfind('\n'));
    const int last = std::stoi(told.substr(told.rfind('\n') + 1));
    open();
    const auto snapshot = loop.load(*store, "round" + std::to_string(round));
    ASSERT_TRUE(snapshot) << snapshot.error().message;
    EXPECT_GE(std::stoi(snapshot->entries.at(0).value), last);
    close();
  }
}

}  // namespace
}  // namespace fdbpack::test
