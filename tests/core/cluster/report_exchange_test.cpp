// SPDX-License-Identifier: Apache-2.0
//
// Both sides of the exchange over a network that loses, repeats, delays and reorders, with restarts
// of either side. Safety: what the coordinator has is what the agent really had at some moment, and
// never goes back to an earlier one. Liveness: once the network behaves both agree.
#include "fdbpack/base/random.hpp"
#include "fdbpack/cluster/report_gate.hpp"
#include "fdbpack/cluster/report_source.hpp"
#include "tests/support/seeds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace fdbpack::cluster {
namespace {

constexpr Duration kSilence = std::chrono::seconds(30);

class Exchange {
 public:
  explicit Exchange(std::uint64_t seed) : random_(seed) { restart_agent(); }

  void step() {
    now_ += std::chrono::seconds(1);
    switch (random_.below(10)) {
      case 0:
        return change();
      case 1:
        return change();
      case 2:
        return change();
      case 3:
        return send();
      case 4:
        return send();
      case 5:
        return deliver(random_.below(4) == 0);
      case 6:
        return deliver(false);
      case 7:
        return lose();
      case 8:
        return random_.below(20) == 0 ? restart_agent() : send();
      default:
        return random_.below(20) == 0 ? restart_coordinator() : deliver(false);
    }
  }

  // Nothing is lost any more: a few rounds must do.
  void settle() {
    in_flight_.clear();
    for (int i = 0; i < 20 && (agent_->has_news() || gate_.facts() != facts_); ++i) {
      send();
      while (!in_flight_.empty())
        deliver(false);
    }
  }

  void check() const {
    if (!gate_.is_known()) return;
    // The facts carry the moment they were made in: every report is one of the moments we had.
    const auto found = std::find(history_.begin(), history_.end(), gate_.facts());
    ASSERT_NE(found, history_.end()) << "the coordinator has facts that the agent never had";
    ASSERT_GE(found - history_.begin(), seen_) << "the coordinator went back in time";
    seen_ = found - history_.begin();
  }

  [[nodiscard]] const Facts& facts() const { return facts_; }
  [[nodiscard]] const ReportGate& gate() const { return gate_; }

 private:
  void change() {
    const std::string key = "units/" + std::to_string(random_.below(5));
    if (random_.below(3) == 0) {
      facts_.erase(key);
    } else {
      facts_[key] = std::to_string(random_.below(9));
    }
    remember();
    agent_->replace(facts_);
  }

  // Every moment is different, so that it can be told which one the coordinator has.
  void remember() {
    facts_["host"] = std::to_string(history_.size());
    history_.push_back(facts_);
  }

  void send() { in_flight_.push_back(agent_->next(0)); }

  void deliver(bool is_repeated) {
    if (in_flight_.empty()) return;
    const std::size_t at = random_.below(in_flight_.size());
    const Report report = in_flight_[at];
    if (!is_repeated) in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(at));
    const ReportOutcome outcome = gate_.take(report, now_, kSilence);
    // Only the answer to the report on its way is waited for, and it too may be lost.
    const bool is_awaited = awaited() == report.stamp;
    if (is_awaited && random_.below(4) != 0) answer(outcome);
  }

  void answer(ReportOutcome outcome) {
    agent_->answered({outcome, std::to_string(session_), gate_.stamp().epoch});
  }

  [[nodiscard]] std::optional<ReportStamp> awaited() const {
    auto copy = *agent_;
    const Report again = copy.next(0);
    return again.stamp;
  }

  void lose() {
    if (!in_flight_.empty()) in_flight_.pop_back();
  }

  void restart_agent() {
    agent_.emplace("i", ++epoch_);
    remember();
    agent_->replace(facts_);
  }

  void restart_coordinator() { gate_ = ReportGate(std::to_string(++session_)); }

  Random random_;
  Instant now_{};
  Facts facts_;
  std::vector<Facts> history_;
  mutable std::ptrdiff_t seen_ = 0;
  std::uint64_t epoch_ = 0;
  std::optional<ReportSource> agent_;
  std::uint64_t session_ = 1;
  ReportGate gate_{"1"};
  std::vector<Report> in_flight_;
};

TEST(ReportExchange, SurvivesEveryKindOfNetwork) {
  for (const auto seed : support::seeds(300)) {
    FDBPACK_TRACE_SEED(seed);
    Exchange exchange(seed);
    for (int i = 0; i < 300; ++i) {
      exchange.step();
      exchange.check();
      if (::testing::Test::HasFatalFailure()) return;
    }
    exchange.settle();
    ASSERT_EQ(exchange.gate().facts(), exchange.facts());
  }
}

TEST(ReportSource, AnAgentFromABackupGoesOnAboveWhatIsKnown) {
  ReportGate gate("s");
  ReportSource before("i", 9);
  before.set("host", "a");
  (void)before.next(0);
  before.answered({ReportOutcome::needs_full, "s", 0});
  EXPECT_EQ(gate.take(before.next(0), Instant{}, kSilence), ReportOutcome::taken);
  ReportSource restored("i", 3);
  restored.set("host", "b");
  (void)restored.next(0);
  restored.answered({ReportOutcome::needs_full, "s", 9});
  const auto outcome = gate.take(restored.next(0), Instant{}, kSilence);
  EXPECT_EQ(outcome, ReportOutcome::outdated);
  restored.answered({outcome, "s", gate.stamp().epoch});
  EXPECT_EQ(gate.take(restored.next(0), Instant{}, kSilence), ReportOutcome::taken);
  EXPECT_EQ(gate.facts().at("host"), "b");
  EXPECT_EQ(restored.epoch(), 10u);
}

TEST(ReportSource, SendsOnlyWhatChanged) {
  ReportSource source("i", 1);
  source.replace({{"host", "h"}, {"units/a", "1"}, {"units/b", "1"}});
  EXPECT_TRUE(source.next(7).is_full);
  source.answered({ReportOutcome::taken, "s", 1});
  EXPECT_FALSE(source.has_news());
  source.set("units/a", "2");
  source.remove("units/b");
  const Report report = source.next(8);
  EXPECT_FALSE(report.is_full);
  EXPECT_EQ(report.facts, (Facts{{"units/a", "2"}}));
  EXPECT_EQ(report.gone, std::set<std::string>{"units/b"});
  EXPECT_EQ(report.assignment, 8u);
}

TEST(ReportSource, RepeatsWhatWasLostAndTellsTheRestAfterIt) {
  ReportSource source("i", 1);
  source.set("host", "1");
  const Report first = source.next(0);
  source.set("host", "2");
  EXPECT_TRUE(source.has_news());
  EXPECT_EQ(source.next(0), first) << "a stamp never stands for two contents";
  source.answered({ReportOutcome::repeated, "s", 1});
  EXPECT_EQ(source.next(0).facts, (Facts{{"host", "2"}}));
}

}  // namespace
}  // namespace fdbpack::cluster
