// SPDX-License-Identifier: Apache-2.0
//
// Our score against what hbal 3.0.2 printed for the same files.
#include "fdbpack/place/htools/balance.hpp"
#include "fdbpack/place/htools/capacity.hpp"
#include "fdbpack/place/htools/score.hpp"
#include "fdbpack/place/htools/text.hpp"
#include "tests/support/places.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace fdbpack::place::htools {
namespace {

const std::filesystem::path kGoldens =
    std::filesystem::path(test::source_file("../shared/goldens/htools"));

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

struct HspaceCase {
  std::string file;
  Cluster cluster;
  nlohmann::json keys;
};

// What hspace printed without its check that every node can be emptied.
std::vector<HspaceCase> hspace_cases() {
  std::vector<HspaceCase> out;
  for (const nlohmann::json& record :
       nlohmann::json::parse(read(kGoldens / "expected/hspace.json"))) {
    const std::vector<std::string> args = record.at("args");
    if (args != std::vector<std::string>{"--no-capacity-checks"} || record.at("rc") != 0) continue;
    const std::string file = record.at("file");
    Result<Cluster> cluster = parse_text(read(kGoldens / file));
    EXPECT_TRUE(cluster.has_value()) << file;
    if (cluster) out.push_back({file, *std::move(cluster), record.at("keys")});
  }
  return out;
}

TEST(HtoolsGolden, StandardCapacityEqualsHspaces) {
  if (!std::filesystem::exists(kGoldens)) GTEST_SKIP() << "no " << kGoldens;
  int compared = 0;
  for (const HspaceCase& one : hspace_cases()) {
    SCOPED_TRACE(one.file);
    const Result<Forecast> ours = forecast(one.cluster);
    if (!ours.has_value()) {
      EXPECT_EQ(ours.error().message, "instances on two nodes are not forecast");
      continue;
    }
    EXPECT_EQ(std::to_string(ours->instances), one.keys.at("ALLOC_INSTANCES").get<std::string>());
    ++compared;
  }
  EXPECT_GT(compared, 40);
}

// "mem,disk,cpus,spindles=count ..."
TEST(HtoolsGolden, TieredCapacityEqualsHspaces) {
  if (!std::filesystem::exists(kGoldens)) GTEST_SKIP() << "no " << kGoldens;
  int compared = 0;
  for (const HspaceCase& one : hspace_cases()) {
    SCOPED_TRACE(one.file);
    const Result<std::vector<Tier>> ours = forecast_tiered(one.cluster);
    if (!ours.has_value()) {
      EXPECT_EQ(ours.error().message, "instances on two nodes are not forecast");
      continue;
    }
    std::string text;
    for (const Tier& tier : *ours) {
      text += (text.empty() ? "" : " ") + std::to_string(tier.spec.memory) + "," +
              std::to_string(tier.spec.disk) + "," + std::to_string(tier.spec.vcpus) + "," +
              std::to_string(tier.spec.spindle_use) + "=" + std::to_string(tier.instances);
    }
    EXPECT_EQ(text, one.keys.value("TSPEC", ""));
    ++compared;
  }
  EXPECT_GT(compared, 40);
}

// One node of 4 GiB and 20 GiB; group and cluster have the same policy. `node` replaces the node.
Result<Cluster> small_cluster(const std::string& ranges, const std::string& disk_template,
                              const std::string& node = "n1|4096|0|4096|20480|20480|4|N|u") {
  const std::string policy = "|64,1,256,1,1,1|" + ranges + "|" + disk_template + "|4.0|32.0\n";
  return parse_text("g|u|preferred||\n\n" + node + "\n\n\n\n" + policy + "g" + policy);
}

// Without memory any number would fit.
TEST(HtoolsTiers, SizesThatNothingLimitsAreRefused) {
  const auto none = forecast_tiered(*small_cluster("0,0,0,1,1,1;0,0,0,1,1,12", "diskless"));
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().message,
            "the policy has a specification with 0 MiB of memory: how many fit has no limit");
  EXPECT_FALSE(forecast_tiered(*small_cluster("0,0,0,1,1,1;-64,0,0,1,1,12", "diskless")));
  EXPECT_FALSE(forecast_tiered(*small_cluster("0,0,0,1,1,1;64,0,-256,1,1,12", "plain")));
  const auto huge = "0,0,0,1,1,1;64,0,9223372036854775807,1,1,12";
  EXPECT_FALSE(forecast_tiered(*small_cluster(huge, "plain")));
  Cluster standard = *small_cluster("0,0,0,1,1,1;64,1,256,1,1,12", "diskless");
  standard.policy.standard.memory = 0;
  EXPECT_FALSE(forecast(standard));
}

TEST(HtoolsTiers, MoreThanCanBeCountedIsRefused) {
  Cluster cluster = *small_cluster("0,0,0,1,1,1;1,0,0,1,1,12", "diskless",
                                   "n1|999999999|0|999999999|20480|20480|4|N|u");
  const auto tiers = forecast_tiered(cluster);
  ASSERT_FALSE(tiers.has_value());
  EXPECT_EQ(tiers.error().message,
            "more than 10000000 instances of the policy's specification fit");
  cluster.policy.standard = {1, 0, 0, 1, 1, 1};
  EXPECT_EQ(forecast(cluster).error().message, tiers.error().message);
}

// A largest size far beyond the nodes is passed in few steps, and ends where single steps would.
TEST(HtoolsTiers, HugeLargestSizesEndWhereSmallOnesDo) {
  const auto first = [](const std::string& max) {
    const auto tiers = forecast_tiered(*small_cluster("64,1,256,1,1,1;" + max, "plain"));
    EXPECT_TRUE(tiers.has_value()) << max;
    return tiers && !tiers->empty() ? tiers->front() : Tier{};
  };
  // 999999999 is 255 above a multiple of 256 and 63 above one of 64; less than the node has fits;
  // one CPU of 16 is its own.
  EXPECT_EQ(first("1024,1,999999999,1,1,12").spec.disk, 20479);
  EXPECT_EQ(first("999999999,1,1024,1,1,12").spec.memory, 4095);
  EXPECT_EQ(first("1024,999999999,1024,1,1,12").spec.vcpus, 15);
  const Tier all = first("999999999,999999999,999999999,1,1,12");
  EXPECT_EQ(all.spec.memory, 4095);
  EXPECT_EQ(all.spec.disk, 20479);
  EXPECT_EQ(all.spec.vcpus, 15);
  EXPECT_EQ(all.instances, 1);
}

// 10 GiB on each of two units is not 20 GiB; without the column the old rule adds up.
TEST(Htools, StorageColumnIsUsedWhenPresent) {
  const auto cluster = [](const std::string& column) {
    const std::string text =
        "g|u|preferred||\n\n"
        "n1|4096|0|4096|20480|20480|4|N|u|1||N|0|1|1.0" +
        column + "\nn2|4096|0|4096|40960|16384|4|N|u|1||N|0|1|1.0" +
        (column.empty() ? "" : "|16384,40960,lvm-vg,xenvg") + "\n\n\n\n";
    return *parse_text(text);
  };
  Instance wanted;
  wanted.memory = 128;
  wanted.disk = 15360;
  wanted.vcpus = 1;
  wanted.status = "running";
  wanted.disk_template = Template::plain;
  EXPECT_EQ(allocate(cluster(""), wanted)->node, 0);
  const Cluster units = cluster("|10240,10240,lvm-vg,xenvg;10240,10240,lvm-vg,ssdvg");
  const Allocation answer = *allocate(units, wanted);
  EXPECT_EQ(answer.node, 1);
  ASSERT_EQ(answer.refused.size(), 1u);
  EXPECT_EQ(answer.refused[0].reason,
            "disk of 15360 MiB does not fit: lvm-vg:xenvg has 10240 MiB free");
  wanted.disks = {7680, 7680};
  EXPECT_EQ(allocate(units, wanted)->refused.size(), 0u);  // one on each unit
  // Free shares 1.0 and 0.4 of xenvg, 1.0 of the lone ssdvg: sample deviations 0.6 / sqrt(2) and 0,
  // their mean.
  EXPECT_NEAR(storage_metric(units, {0, 1}), 0.6 / std::sqrt(2.0) / 2, 1e-12);
  EXPECT_EQ(score(units, {0, 1}, {}).metrics[1], storage_metric(units, {0, 1}));
}

// The storage design's own example, and the four-unit node of it.
TEST(Htools, WhatWasPrintedParsesTheSame) {
  const std::string text =
      "g|u|preferred||\n\n"
      "n1|4096|0|4096|20480|20480|4|N|u|1|a,b|N|0|1|1|2000,4000,drbd8,xenvg;5000,10000,file,/path/"
      "to/storage1;"
      "1000,20000,file,/path/to/storage2;1024,1024,lvm-vg,xenssdvg,false\n\n"
      "i1|128|1024|1|running|Y|n1||plain|t|1|-|N\n\ntag\n";
  const Result<Cluster> once = parse_text(text);
  ASSERT_TRUE(once.has_value()) << once.error().message;
  ASSERT_EQ(once->nodes[0].storage.size(), 4u);
  EXPECT_EQ(once->nodes[0].storage[3].id.params, (std::vector<std::string>{"false"}));
  EXPECT_EQ(print_text(*parse_text(print_text(*once))), print_text(*once));
}

// hbal prints 0 when there is no online node, whatever lies on the others.
TEST(Htools, AClusterThatIsAllOfflineScoresNothing) {
  const BalanceResult result =
      *balance(*parse_text("g|u|preferred||\n\nn1|4096|0|4096|20480|20480|4|Y|u\n\n"
                           "i|128|1024|1|running|Y|n1||ext||1\n\n\n"),
               {});
  EXPECT_EQ(result.initial.overall(), 0);
  EXPECT_EQ(result.final.overall(), 0);
  EXPECT_TRUE(result.moves.empty());
}

TEST(Htools, WhatIsNotAutoBalancedStays) {
  const auto moves = [](const std::string& first_offline, const std::string& auto_balanced) {
    const std::string text = "g|u|preferred||\n\nn0|16384|1024|11264|1000000|1000000|8|" +
                             first_offline +
                             "|u|1\nn1|16384|1024|15360|1000000|1000000|8|N|u|1\n"
                             "n2|16384|1024|15360|1000000|1000000|8|N|u|1\n\n"
                             "i0|2048|0|1|running|" +
                             auto_balanced +
                             "|n0||rbd||1\n"
                             "i1|2048|0|1|running|N|n0||rbd||1\n\n\n";
    std::vector<std::int32_t> out;
    const BalanceResult result = *balance(*parse_text(text), {});
    for (const Move& move : result.moves)
      out.push_back(move.instance);
    return out;
  };
  for (const std::string offline : {"N", "Y"}) {
    EXPECT_EQ(moves(offline, "N"), (std::vector<std::int32_t>{})) << "offline " << offline;
    EXPECT_EQ(moves(offline, "Y"), (std::vector<std::int32_t>{0})) << "offline " << offline;
  }
}

TEST(Htools, BadInputIsRefused) {
  const auto refused = [](const std::string& nodes, const std::string& instances) {
    const auto result = parse_text("g|u|preferred||\n\n" + nodes + "\n\n" + instances + "\n\n\n");
    return result ? std::string("good") : result.error().message;
  };
  const std::string node = "n1|4096|0|4096|20480|20480|4|N|u";
  EXPECT_EQ(refused(node, ""), "good");
  EXPECT_EQ(refused(node + "\n" + node, ""), "node n1 is listed twice");
  EXPECT_EQ(refused("n1|nan|0|4096|20480|20480|4|N|u", ""),
            "node n1: total memory 'nan' is not a number");
  EXPECT_EQ(refused("n1|-1|0|4096|20480|20480|4|N|u", ""), "node n1: has a negative capacity");
  EXPECT_EQ(refused(node + "|1||N|0|1|1.0|5,4,file,a", ""),
            "node n1: storage unit '5,4,file,a' must have 0 <= free <= total");
  EXPECT_EQ(refused(node + "|1||N|0|1|1.0|1,4,file,a;1,4,file,a", ""),
            "node n1: storage unit file:a is listed twice");
  EXPECT_EQ(refused(node, "i|1|1|1|running|Y|n1|n1|drbd|"),
            "instance i has the same primary and secondary node");
  EXPECT_EQ(refused(node, "i|1|1|1|running|Y|n2||plain|"), "unknown node 'n2' for instance i");
  EXPECT_FALSE(parse_text("a\n\nb").has_value());
}

}  // namespace
}  // namespace fdbpack::place::htools
