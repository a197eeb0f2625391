// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/cluster/report_gate.hpp"

#include <gtest/gtest.h>

namespace fdbpack::cluster {
namespace {

using std::chrono::seconds;

constexpr Duration kSilence = seconds(30);

Instant at(int second) {
  return Instant(seconds(second));
}

Report full(std::string instance, std::uint64_t epoch, std::uint64_t sequence, Facts facts) {
  return {{std::move(instance), epoch, sequence}, "s", true, std::move(facts), {}, 0};
}

Report delta(std::string instance, std::uint64_t epoch, std::uint64_t sequence, Facts facts,
             std::set<std::string> gone = {}) {
  return {{std::move(instance), epoch, sequence}, "s", false, std::move(facts), std::move(gone), 0};
}

class KnownHost : public ::testing::Test {
 protected:
  KnownHost() {
    first_ = gate_.take(full("i", 4, 1, {{"host", "h"}, {"units/a", "1"}}), at(0), kSilence);
  }
  ReportOutcome take(Report report, int second = 1) {
    return gate_.take(std::move(report), at(second), kSilence);
  }

  ReportGate gate_{"s"};
  ReportOutcome first_;
};

TEST(ReportGate, WantsEverythingFromAnUnknownHost) {
  ReportGate gate("s");
  EXPECT_EQ(gate.take(delta("i", 1, 2, {{"host", "h"}}), at(0), kSilence),
            ReportOutcome::needs_full);
  EXPECT_FALSE(gate.is_known());
  EXPECT_TRUE(gate.facts().empty());
}

TEST_F(KnownHost, TakesTheNextDelta) {
  EXPECT_EQ(first_, ReportOutcome::taken);
  EXPECT_EQ(take(delta("i", 4, 2, {{"units/b", "2"}}, {"units/a"})), ReportOutcome::taken);
  EXPECT_EQ(gate_.facts(), (Facts{{"host", "h"}, {"units/b", "2"}}));
}

TEST_F(KnownHost, AnswersARetryWithoutTakingItTwice) {
  take(delta("i", 4, 2, {{"units/a", "2"}}));
  EXPECT_EQ(take(delta("i", 4, 2, {{"units/a", "3"}}), 9), ReportOutcome::repeated);
  EXPECT_EQ(gate_.facts().at("units/a"), "2");
  EXPECT_EQ(gate_.heard_at(), at(9)) << "it is alive all the same";
}

TEST_F(KnownHost, ALateReportChangesNothing) {
  take(full("i", 5, 1, {{"host", "new"}}));
  EXPECT_EQ(take(full("i", 4, 9, {{"host", "old"}}), 9), ReportOutcome::outdated);
  EXPECT_EQ(take(delta("i", 4, 2, {{"host", "old"}}), 9), ReportOutcome::outdated);
  EXPECT_EQ(gate_.facts(), (Facts{{"host", "new"}}));
  EXPECT_EQ(gate_.heard_at(), at(1)) << "an echo is no sign of life";
}

TEST_F(KnownHost, AskForEverythingWhenOneIsMissing) {
  EXPECT_EQ(take(delta("i", 4, 3, {{"units/a", "3"}})), ReportOutcome::needs_full);
  EXPECT_EQ(take(delta("i", 5, 2, {{"units/a", "3"}})), ReportOutcome::needs_full);
  EXPECT_EQ(gate_.facts().at("units/a"), "1");
}

TEST(ReportGate, AnEchoOfAnEarlierSessionIsNoNews) {
  ReportGate gate("t");
  EXPECT_EQ(gate.take(full("i", 1, 1, {{"host", "h"}}), at(0), kSilence),
            ReportOutcome::needs_full);
  EXPECT_FALSE(gate.is_known());
}

TEST_F(KnownHost, AnotherInstallationWaitsUntilThisOneIsSilent) {
  EXPECT_EQ(take(full("j", 1, 1, {{"host", "j"}}), 30), ReportOutcome::name_taken);
  EXPECT_EQ(gate_.facts().at("host"), "h");
  EXPECT_EQ(take(delta("j", 1, 2, {{"host", "j"}}), 31), ReportOutcome::needs_full);
  EXPECT_EQ(take(full("j", 1, 3, {{"host", "j"}}), 31), ReportOutcome::taken);
  EXPECT_EQ(gate_.facts(), (Facts{{"host", "j"}})) << "nothing of the old one is left";
  EXPECT_EQ(take(full("i", 9, 1, {{"host", "i"}}), 40), ReportOutcome::name_taken)
      << "now the name is the other's";
}

}  // namespace
}  // namespace fdbpack::cluster
