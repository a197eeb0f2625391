// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/metrics/metrics_text.hpp"

#include <gmock/gmock.h>

namespace fdbpack::metrics {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(MetricsText, WritesFamiliesAndEscapesLabels) {
  MetricsText text;
  text.family("a_up", Kind::gauge, "One.\nTwo\\three.");
  text.sample({{"process", "a\"b\\c\nd"}, {"zone", "z"}}, std::uint64_t{1});
  text.family("a_total", Kind::counter, "Sum.");
  text.sample({}, 1.5);
  const std::string all = text.take();
  EXPECT_EQ(all,
            "# HELP a_up One.\\nTwo\\\\three.\n# TYPE a_up gauge\n"
            "a_up{process=\"a\\\"b\\\\c\\nd\",zone=\"z\"} 1\n"
            "# HELP a_total Sum.\n# TYPE a_total counter\na_total 1.5\n");
  EXPECT_THAT(check(all), IsEmpty());
}

TEST(MetricsText, LeavesFamiliesWithoutSamplesOut) {
  MetricsText text;
  text.family("a_up", Kind::gauge, "None.");
  text.family("b_up", Kind::gauge, "One.");
  text.sample({}, std::uint64_t{0});
  EXPECT_THAT(text.take(), Not(HasSubstr("a_up")));
}

TEST(MetricsCheck, FindsWhatPromtoolWouldFind) {
  const std::pair<std::string, std::string> cases[] = {
      {"# HELP a_b x\n# TYPE a_b counter\na_b 1\n", "_total"},
      {"# HELP a_total x\n# TYPE a_total gauge\na_total 1\n", "should not end in _total"},
      {"# HELP a_count x\n# TYPE a_count gauge\na_count 1\n", "_count"},
      {"# TYPE a gauge\na 1\n", "no help"},
      {"# HELP a x\n# TYPE a gauge\nb 1\n", "outside its family"},
      {"# HELP a x\n# TYPE a gauge\na 1\n# HELP b x\n# TYPE b gauge\nb 1\n# TYPE a gauge\na 2\n",
       "not in one piece"},
      {"# HELP a x\n# TYPE a gauge\na{l=\"1\"} 1\na{l=\"1\"} 2\n", "twice"},
      {"# HELP a x\n# TYPE a gauge\na{l=\"1} 1\n", "labels"},
      {"# HELP a x\n# TYPE a gauge\na one\n", "no number"},
      {"# HELP a x\n# TYPE a gauge\na 1", "newline"},
      {"# HELP aB x\n# TYPE aB gauge\naB 1\n", "lower case"},
      {"# HELP a_ms x\n# TYPE a_ms gauge\na_ms 1\n", "base units"},
  };
  for (const auto& [text, finding] : cases) {
    std::string all;
    for (const auto& one : check(text))
      all += one + "\n";
    EXPECT_THAT(all, HasSubstr(finding)) << text;
  }
}

}  // namespace
}  // namespace fdbpack::metrics
