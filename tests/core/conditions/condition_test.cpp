// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/conditions/condition.hpp"

#include <gmock/gmock.h>

namespace fdbpack::conditions {
namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""min;
using testing::ElementsAre;
using testing::IsEmpty;

const WallTime kStart{std::chrono::hours(480'000)};
const std::string kProcess = "fdbserver.4500";

std::vector<Observation> crash() {
  return {{Type::crash_looping, kProcess, "again"}};
}

TEST(ConditionBook, KeepsTheFirstSightOfWhatComesAndGoes) {
  ConditionBook book;
  EXPECT_TRUE(book.take(crash(), kStart));
  EXPECT_TRUE(book.take({}, kStart + 30s));
  ASSERT_EQ(book.conditions().size(), 1U);
  EXPECT_FALSE(book.conditions()[0].is_active);
  EXPECT_EQ(book.conditions()[0].last_seen, kStart + 30s);
  EXPECT_TRUE(book.take(crash(), kStart + 60s));
  const Condition again = book.conditions().at(0);
  EXPECT_EQ(again.first_seen, kStart);
  EXPECT_EQ(again.last_seen, kStart + 60s);
  EXPECT_TRUE(again.is_active);
  EXPECT_EQ(again.times, 2U);
}

TEST(ConditionBook, ForgetsWhatWasNotSeenForLong) {
  ConditionBook book;
  book.take(crash(), kStart);
  book.take({}, kStart + 1s);
  EXPECT_EQ(book.next_change(), kStart + 1s + 10min);
  EXPECT_FALSE(book.take({}, kStart + 9min));
  EXPECT_TRUE(book.take({}, kStart + 1s + 10min));
  EXPECT_THAT(book.conditions(), IsEmpty());
  EXPECT_EQ(book.next_change(), std::nullopt);
  book.take(crash(), kStart + 20min);
  EXPECT_EQ(book.conditions().at(0).first_seen, kStart + 20min);
}

TEST(ConditionBook, LetsAProcessBeAwayForAMoment) {
  const std::vector<Observation> missing = {{Type::missing_processes, kProcess, "gone"}};
  ConditionBook book;
  EXPECT_FALSE(book.take(missing, kStart));
  EXPECT_THAT(book.conditions(), IsEmpty());
  EXPECT_EQ(book.next_change(), kStart + 15s);
  EXPECT_FALSE(book.take({}, kStart + 1s));
  EXPECT_FALSE(book.take(missing, kStart + 10s));
  EXPECT_FALSE(book.take(missing, kStart + 16s)) << "it was back in between";
  EXPECT_TRUE(book.take(missing, kStart + 25s));
  EXPECT_EQ(book.conditions().at(0).first_seen, kStart + 10s);
}

TEST(ConditionBook, NotesOnceAMinuteThatSomethingGoesOn) {
  ConditionBook book;
  book.take(crash(), kStart);
  EXPECT_FALSE(book.take(crash(), kStart + 59s));
  EXPECT_EQ(book.conditions().at(0).last_seen, kStart);
  EXPECT_EQ(book.next_change(), kStart + 60s);
  EXPECT_TRUE(book.take(crash(), kStart + 60s));
  EXPECT_EQ(book.conditions().at(0).last_seen, kStart + 60s);
}

TEST(ConditionBook, SurvivesItsAgent) {
  ConditionBook first;
  first.take(crash(), kStart);
  ConditionBook second;
  second.restore(first.conditions());
  EXPECT_TRUE(second.conditions().at(0).is_active) << "nobody has judged it";
  EXPECT_TRUE(second.take(crash(), kStart + 120s));
  EXPECT_EQ(second.conditions().at(0).first_seen, kStart);
  EXPECT_TRUE(second.conditions().at(0).is_active);
  EXPECT_EQ(second.conditions().at(0).times, 1U) << "another agent is no other time";
  second.take({}, kStart + 130s);
  EXPECT_FALSE(second.conditions().at(0).is_active);
}

TEST(ConditionBook, KeepsWhatIsKnownOfADiskUntilItIsLookedAt) {
  ConditionBook first;
  first.take({{Type::storage_full, kProcess, "full"}}, kStart);
  ConditionBook second;
  second.restore(first.conditions());
  EXPECT_FALSE(second.take({}, kStart + 1s, {kProcess}));
  EXPECT_TRUE(second.is_active(Type::storage_full, kProcess));
  EXPECT_TRUE(second.take({}, kStart + 2s));
  EXPECT_FALSE(second.is_active(Type::storage_full, kProcess));
}

TEST(ConditionBook, LetsAProcessBeAwayForAMomentEachTime) {
  const std::vector<Observation> missing = {{Type::missing_processes, kProcess, "gone"}};
  ConditionBook book;
  book.take(missing, kStart);
  ASSERT_TRUE(book.take(missing, kStart + 15s));
  ASSERT_TRUE(book.take({}, kStart + 20s));
  EXPECT_FALSE(book.take(missing, kStart + 60s));
  EXPECT_FALSE(book.is_active(Type::missing_processes, kProcess));
  EXPECT_EQ(book.next_change(), kStart + 75s);
  EXPECT_FALSE(book.take({}, kStart + 61s)) << "it was away for a moment";
  EXPECT_FALSE(book.take(missing, kStart + 70s));
  EXPECT_TRUE(book.take(missing, kStart + 85s));
  EXPECT_EQ(book.conditions().at(0).first_seen, kStart);
  EXPECT_EQ(book.conditions().at(0).times, 2U);
}

TEST(ConditionBook, BearsACalendarThatIsSetBack) {
  ConditionBook book;
  book.take(crash(), kStart);
  EXPECT_TRUE(book.take(crash(), kStart - 60min));
  EXPECT_EQ(book.conditions().at(0).first_seen, kStart - 60min);
  EXPECT_EQ(book.conditions().at(0).last_seen, kStart - 60min);
}

TEST(Observe, SaysWhatIsWrongWithAProcess) {
  ProcessFacts process;
  process.process = kProcess;
  process.is_running = true;
  EXPECT_THAT(observe({{process}, {}, "", {}}, {}), IsEmpty());
  process.is_running = false;
  process.quick_deaths = 3;
  process.last_exit = "exited with code 1";
  process.has_other_command = true;
  std::vector<Type> types;
  for (const auto& one : observe({{process}, {}, "line 3: no such user", {}}, {}))
    types.push_back(one.type);
  EXPECT_THAT(types, ElementsAre(Type::incorrect_config_map, Type::missing_processes,
                                 Type::crash_looping, Type::incorrect_command_line));
  process.is_held = true;
  EXPECT_EQ(observe({{process}, {}, "", {}}, {}).at(0).reason, "an administrator stopped it");
  process.is_configured = false;
  EXPECT_THAT(observe({{process}, {}, "", {}}, {}), IsEmpty());
}

TEST(Observe, ACrashLoopEndsWithARunThatIsLongEnough) {
  ProcessFacts process;
  process.process = kProcess;
  process.is_running = true;
  process.quick_deaths = 3;
  ConditionBook book;
  book.take(observe({{process}, {}, "", {}}, book), kStart);
  ASSERT_TRUE(book.is_active(Type::crash_looping, kProcess));
  process.quick_deaths = 0;
  EXPECT_EQ(observe({{process}, {}, "", {}}, book).size(), 1U) << "another agent counts anew";
  process.has_run_well = true;
  process.quick_deaths = 3;
  EXPECT_THAT(observe({{process}, {}, "", {}}, book), IsEmpty());
}

TEST(Observe, AFailureOfTheDiskEndsWithARunThatIsLongEnough) {
  EXPECT_TRUE(tells_of_disk_failure("Error: Disk i/o operation failed (1510)"));
  EXPECT_FALSE(tells_of_disk_failure("FDBD joined cluster."));
  ProcessFacts process;
  process.process = kProcess;
  process.is_running = true;
  process.io_error = "io_error";
  EXPECT_EQ(observe({{process}, {}, "", {}}, {}).at(0).type, Type::process_io_error);
  process.has_run_well = true;
  EXPECT_THAT(observe({{process}, {}, "", {}}, {}), IsEmpty());
}

TEST(Observe, StorageIsFullUntilThereIsRoomAgain) {
  DirectoryFacts directory;
  directory.process = kProcess;
  directory.path = "/d";
  directory.total_bytes = 100'000'000'000;
  const auto is_full = [&](std::uint64_t free, const ConditionBook& book) {
    directory.free_bytes = free;
    return !observe({{}, {directory}, "", {}}, book).empty();
  };
  ConditionBook book;
  EXPECT_FALSE(is_full(5'000'000'000, book));
  EXPECT_TRUE(is_full(4'999'999'999, book));
  book.take({{Type::storage_full, kProcess, "full"}}, kStart);
  EXPECT_TRUE(is_full(6'000'000'000, book)) << "a little more is not room yet";
  EXPECT_FALSE(is_full(7'000'000'000, book));
}

TEST(Observe, TellsMissingReadOnlyAndDeadDirectoriesApart) {
  DirectoryFacts directory;
  directory.process = kProcess;
  directory.path = "/d";
  directory.is_missing = true;
  EXPECT_EQ(observe({{}, {directory}, "", {}}, {}).at(0).type, Type::missing_pvc);
  directory.is_missing = false;
  directory.is_read_only = true;
  EXPECT_EQ(observe({{}, {directory}, "", {}}, {}).at(0).type, Type::process_io_error);
  directory.error = "no answer";
  EXPECT_EQ(observe({{}, {directory}, "", {}}, {}).at(0).reason,
            "/d cannot be looked at: no answer");
}

TEST(ConditionType, HasTheNamesOfTheDesign) {
  EXPECT_EQ(to_string(Type::missing_pvc), "missingPvc");
  EXPECT_EQ(parse_type("crashLooping"), Type::crash_looping);
  EXPECT_EQ(parse_type("crashlooping"), std::nullopt);
}

}  // namespace
}  // namespace fdbpack::conditions
