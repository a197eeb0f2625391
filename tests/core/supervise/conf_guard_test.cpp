// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/supervise/conf_change.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace fdbpack::supervise {
namespace {

const std::string kLast =
    "# our cluster\n"
    "[fdbmonitor]\nuser = foundationdb\n"
    "[general]\nrestart-delay = 60\n"
    "[fdbserver]\ncommand = /usr/sbin/fdbserver\ndatadir = /var/lib/foundationdb/data/$ID\n"
    "[fdbserver.4500]\nclass = storage\nmemory = 8GiB\n"
    "[fdbserver.4501]\nclass = storage\nmemory = 8GiB\n"
    "[backup_agent]\ncommand = /usr/lib/backup_agent\n"
    "[backup_agent.1]\n";

std::vector<conf::Diagnostic> judge(const std::string& text,
                                    const std::optional<std::string>& last = kLast,
                                    std::size_t live = 0,
                                    std::vector<conf::Diagnostic> diagnostics = {},
                                    LoadCause cause = LoadCause::found) {
  const conf::MonitorConf conf = conf::resolve(conf::parse(text).document);
  const conf::MonitorConf last_conf = conf::resolve(conf::parse(last.value_or("")).document);
  const ConfView last_view{last ? std::string_view(*last) : std::string_view(), last_conf};
  return refusal_reasons({text, conf}, diagnostics, last ? &last_view : nullptr, live, cause);
}

bool is_accepted(const std::string& text, const std::string& last = kLast) {
  return judge(text, last).empty();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
  return text;
}

std::string without_newline(std::string text) {
  text.pop_back();
  return text;
}

TEST(ConfGuard, AcceptsTheSameAndEditsOnPurpose) {
  EXPECT_TRUE(is_accepted(kLast));
  EXPECT_TRUE(is_accepted(without_newline(kLast)));
  EXPECT_TRUE(is_accepted(kLast + "[fdbserver.4502]\n"));
  EXPECT_TRUE(is_accepted(kLast + "[fdbserver.4502]"));
  EXPECT_TRUE(is_accepted(replaced(kLast, "8GiB", "16GiB")));
  EXPECT_TRUE(
      is_accepted(replaced(kLast, "[fdbserver.4500]\nclass = storage\nmemory = 8GiB\n", "")));
}

// goldens: conf_emptied
TEST(ConfGuard, RefusesAConfWithoutProcesses) {
  for (const std::string text :
       {"", "\n", "# all gone\n", "[fdbmonitor]\n", "[fdbserver]\ncommand = /x\n"}) {
    const auto reasons = judge(text);
    ASSERT_EQ(reasons.size(), 1u) << text;
    EXPECT_NE(reasons[0].message.find(kNoProcessesMarker), std::string::npos);
  }
}

TEST(ConfGuard, AcceptsAConfWithoutProcessesThatSaysSoInItsLastLine) {
  EXPECT_TRUE(is_accepted("# fdbpack: no processes\n"));
  EXPECT_TRUE(is_accepted("[fdbmonitor]\nuser = x\n# fdbpack: no processes\n\n"));
  EXPECT_TRUE(is_accepted("# fdbpack: no processes"));
  EXPECT_FALSE(is_accepted("# fdbpack: no processes\n[fdbmonitor]\n"));
  EXPECT_FALSE(is_accepted("# fdbpack: no proc"));
}

TEST(ConfGuard, AcceptsAnEmptyConfWhereNothingWasAndNothingLives) {
  EXPECT_TRUE(judge("", std::nullopt, 0).empty());
  EXPECT_TRUE(is_accepted("", "[fdbmonitor]\n"));
  EXPECT_FALSE(judge("", std::nullopt, 1).empty());
}

// Every cut of the file, at each byte: refused unless nothing is lost by it.
TEST(ConfGuard, RefusesEveryTruncation) {
  for (std::size_t size = 0; size + 1 < kLast.size(); ++size)
    EXPECT_FALSE(is_accepted(kLast.substr(0, size))) << kLast.substr(0, size);
  EXPECT_TRUE(is_accepted(without_newline(kLast)));
}

// Asked for by an administrator, whole sections may be gone from the end.
TEST(ConfGuard, AcceptsTheRemovalOfTheLastSectionsWhenAskedTo) {
  for (std::size_t size = 0; size < kLast.size(); ++size) {
    const std::string cut = kLast.substr(0, size);
    const std::string rest = kLast.substr(size);
    const bool is_between = rest[0] == '[' || rest == "\n";
    const bool has_process = cut.find("[fdbserver.4500]") != std::string::npos;
    EXPECT_EQ(judge(cut, kLast, 3, {}, LoadCause::asked).empty(), is_between && has_process) << cut;
  }
}

TEST(ConfGuard, SaysHowTheRemovalOfTheLastSectionsIsConfirmed) {
  const std::string cut = kLast.substr(0, kLast.find("[fdbserver.4501]"));
  const auto reasons = judge(cut);
  ASSERT_EQ(reasons.size(), 1u);
  EXPECT_NE(reasons[0].message.find("SIGHUP"), std::string::npos);
  EXPECT_NE(reasons[0].message.find("ends before [backup_agent.1]"), std::string::npos);
  EXPECT_EQ(reasons[0].at.line, 12u);
  EXPECT_TRUE(is_accepted(cut + "# without 4501\n"));
  EXPECT_TRUE(is_accepted(cut + "\n"));
}

// The same for a conf as the operator writes it, and cuts of a version that is new otherwise too.
TEST(ConfGuard, RefusesCutsOfANewVersionInTheMiddleOfALine) {
  const std::string last = without_newline(kLast);
  const std::string fresh = replaced(last, "memory = 8GiB", "memory = 16GiB");
  int cuts = 0;
  for (std::size_t size = fresh.find("[fdbserver.4501]"); size < fresh.size(); ++size) {
    const std::string cut = fresh.substr(0, size);
    const std::string rest = fresh.substr(size);
    const bool loses_process = rest.find("[backup_agent.1]") != std::string::npos;
    const bool is_in_line = !cut.ends_with('\n') && !rest.starts_with('\n');
    if (!loses_process || !is_in_line) continue;
    EXPECT_FALSE(is_accepted(cut, last)) << cut;
    ++cuts;
  }
  EXPECT_GT(cuts, 50);
}

TEST(ConfGuard, RefusesALastLineThatIsNoLine) {
  for (const std::string tail : {"[fdbserver.4502]\ndatad", "mem"}) {
    const auto reasons = judge(kLast + tail);
    ASSERT_EQ(reasons.size(), 1u) << tail;
    EXPECT_EQ(reasons[0].at.line, (tail[0] == '[' ? 19u : 18u));
  }
  EXPECT_TRUE(is_accepted(kLast + "# a comment that ends nowhere"));
}

TEST(ConfGuard, RefusesAHalfValueWhereTheConfBeforeEndedInANewline) {
  const std::string text = replaced(kLast, "8GiB", "16GiB");
  EXPECT_FALSE(is_accepted(text + "[fdbserver.4502]\ncommand = /usr/sbin/fdbs"));
  EXPECT_TRUE(is_accepted(text + "[fdbserver.4502]\ncommand = /usr/sbin/fdbserver"));
  EXPECT_TRUE(is_accepted(text + "[fdbserver.4502]\ncommand = /usr/sbin/fdbs\n"));
}

TEST(ConfGuard, RefusesAMissingProcessTogetherWithALostNewline) {
  const std::string text = replaced(kLast, "[backup_agent.1]\n", "[backup_agent.2]");
  const auto reasons = judge(text);
  ASSERT_EQ(reasons.size(), 1u);
  EXPECT_NE(reasons[0].message.find("[backup_agent.1]"), std::string::npos);
  EXPECT_TRUE(is_accepted(text + "\n"));
}

// The operator's confs have no newline at the end: neither edits nor fewer processes need one.
TEST(ConfGuard, AcceptsConfsThatNeverEndInANewline) {
  const std::string last = without_newline(kLast);
  EXPECT_TRUE(is_accepted(replaced(last, "8GiB", "16GiB"), last));
  EXPECT_TRUE(is_accepted(last + "\n[fdbserver.4502]\nclass = log", last));
  const std::string shorter = without_newline(last.substr(0, last.find("[backup_agent]")));
  EXPECT_TRUE(judge(shorter, last, 3, {}, LoadCause::asked).empty());
  EXPECT_TRUE(
      is_accepted(replaced(last, "[fdbserver.4501]\nclass = storage\nmemory = 8GiB\n", ""), last));
}

// goldens: bad_flag_on_reload, unknown_user
TEST(ConfGuard, RefusesErrorsAndKeepsTheirPlace) {
  const auto reasons = judge(kLast + "flag_x = maybe\n");
  ASSERT_EQ(reasons.size(), 1u);
  EXPECT_GT(reasons[0].at.line, 0u);
  EXPECT_NE(reasons[0].message.find("backup_agent.1"), std::string::npos);

  const conf::Diagnostic user{conf::Severity::error, {3, 1}, "unknown user foundationdb"};
  EXPECT_EQ(judge(kLast, kLast, 0, {user}), std::vector{user});
  const conf::Diagnostic warning{conf::Severity::warning, {3, 1}, "a relative command"};
  EXPECT_TRUE(judge(kLast, kLast, 0, {warning}).empty());
}

// There is nothing to fall back to; sections that are right are started.
TEST(ConfGuard, AcceptsTheFirstConfWithItsFaults) {
  EXPECT_TRUE(judge(kLast + "flag_x = maybe\n", std::nullopt).empty());
}

}  // namespace
}  // namespace fdbpack::supervise
