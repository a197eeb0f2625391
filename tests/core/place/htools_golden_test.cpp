// SPDX-License-Identifier: Apache-2.0
//
// Our score against what hbal 3.0.2 printed for the same files.
#include "fdbpack/place/htools/balance.hpp"
#include "fdbpack/place/htools/score.hpp"
#include "fdbpack/place/htools/text.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace fdbpack::place::htools {
namespace {

const std::filesystem::path kGoldens =
    std::filesystem::path(FDBPACK_SOURCE_DIR) / "../shared/goldens/htools";

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

struct Case {
  std::string file;
  std::string group;
  bool ignore_dynu = false;
  nlohmann::json record;
};

// Records whose file is in the data folder; those named derived/ were made on the fly by hspace.
std::vector<Case> cases() {
  std::vector<Case> out;
  const nlohmann::json all = nlohmann::json::parse(read(kGoldens / "expected/hbal.json"));
  for (const nlohmann::json& record : all) {
    Case one;
    one.file = record.at("file");
    one.record = record;
    const std::vector<std::string> args = record.at("args");
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (args[i] == "--ignore-dynu") one.ignore_dynu = true;
      if (args[i] == "-G") one.group = args.at(i + 1);
    }
    if (std::filesystem::exists(kGoldens / one.file)) out.push_back(std::move(one));
  }
  return out;
}

std::string name_of(const Case& one) {
  return one.file + " " + one.group + (one.ignore_dynu ? " --ignore-dynu" : "");
}

TEST(HtoolsGolden, EveryMetricEqualsHbals) {
  if (!std::filesystem::exists(kGoldens)) GTEST_SKIP() << "no " << kGoldens;
  int compared = 0;
  for (const Case& one : cases()) {
    SCOPED_TRACE(name_of(one));
    const Result<Cluster> cluster = parse_text(read(kGoldens / one.file));
    if (one.record.at("rc") != 0) {
      EXPECT_FALSE(cluster.has_value());
      continue;
    }
    ASSERT_TRUE(cluster.has_value()) << cluster.error().message;
    if (one.record.at("initial").is_null()) continue;  // no instances: hbal prints no score
    const auto nodes = nodes_of_group(*cluster, one.group);
    ASSERT_TRUE(nodes.has_value()) << nodes.error().message;
    const Score ours = score(*cluster, *nodes, {one.ignore_dynu});
    EXPECT_NEAR(ours.overall(), one.record["initial"]["overall"].get<double>(), 1e-6);
    // Where nothing is to be done hbal prints the sum alone.
    if (one.record["initial"]["metrics"].empty()) continue;
    for (std::size_t m = 0; m < kMetricCount; ++m) {
      const nlohmann::json& metric =
          one.record["initial"]["metrics"].at(std::string(kMetrics[m].name));
      EXPECT_NEAR(ours.metrics[m], metric["value"].get<double>(), 1e-6) << kMetrics[m].name;
      EXPECT_EQ(kMetrics[m].weight, metric["weight"].get<double>());
      ++compared;
    }
  }
  EXPECT_GT(compared, 1000);
}

// Where no mirrored pair could be moved our result must be at least as good as hbal's.
TEST(HtoolsGolden, FinalScoreIsNotAboveHbals) {
  if (!std::filesystem::exists(kGoldens)) GTEST_SKIP() << "no " << kGoldens;
  int compared = 0;
  for (const Case& one : cases()) {
    SCOPED_TRACE(name_of(one));
    if (one.record.at("rc") != 0 || one.record.at("initial").is_null()) continue;
    BalanceOptions options;
    options.group = one.group;
    options.ignore_dynu = one.ignore_dynu;
    const Result<BalanceResult> result = balance(*parse_text(read(kGoldens / one.file)), options);
    ASSERT_TRUE(result.has_value()) << result.error().message;
    const double initial = one.record["initial"]["overall"].get<double>();
    const double theirs =
        one.record["final"].is_object() ? one.record["final"]["overall"].get<double>() : initial;
    EXPECT_NEAR(result->initial.overall(), initial, 1e-6);
    EXPECT_LE(result->final.overall(), initial + 1e-6);
    if (!result->moves.empty()) {
      EXPECT_NEAR(result->moves.back().score, result->final.overall(), 1e-6);
    }
    if (result->mirrored > 0) continue;
    EXPECT_LE(result->final.overall(), theirs + 1e-6);
    // Run on its own result it proposes nothing.
    EXPECT_TRUE(balance(result->cluster, options)->moves.empty());
    ++compared;
  }
  EXPECT_GT(compared, 10);
}

}  // namespace
}  // namespace fdbpack::place::htools
