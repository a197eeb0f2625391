// SPDX-License-Identifier: Apache-2.0
//
// The commands of placement, as the real program answers them.
#include "tests/support/places.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/temp_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

namespace fdbpack::cli {
namespace {

using support::ProgramResult;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kFleet = test::source_file("examples/fleet.json");

ProgramResult fdbpack(std::vector<std::string> arguments, const std::string& input = "") {
  arguments.insert(arguments.begin(), test::program_file("fdbpack"));
  return support::run_program(std::move(arguments), input);
}

nlohmann::json json_of(std::vector<std::string> arguments, const std::string& input = "") {
  arguments.push_back("--json");
  const ProgramResult result = fdbpack(std::move(arguments), input);
  EXPECT_EQ(result.exit_code, 0) << result.error;
  return nlohmann::json::parse(result.out);
}

TEST(PlacementCli, HelpShowsAnExampleForEveryCommand) {
  for (const char* command :
       {"place", "explain", "balance", "evacuate", "capacity", "waves", "affinity", "fleet"}) {
    const ProgramResult result = fdbpack({command, "--help"});
    EXPECT_EQ(result.exit_code, 0) << command;
    EXPECT_THAT(result.out, HasSubstr("Example:\n  fdbpack ")) << command;
  }
}

TEST(PlacementCli, PlacesWhatIsMissingAndSaysWhy) {
  const ProgramResult table = fdbpack({"place", "--fleet", kFleet});
  EXPECT_EQ(table.exit_code, 0);
  EXPECT_THAT(table.out, StartsWith("GROUP "));
  EXPECT_THAT(table.out, HasSubstr("storage-7  sample   default"));
  const nlohmann::json plan = json_of({"place", "--fleet", kFleet});
  ASSERT_EQ(plan["placed"].size(), 2u);
  const nlohmann::json& why = plan["placed"][0]["why"];
  EXPECT_TRUE(why["winner"]["terms"].contains("utilisation"));
  EXPECT_TRUE(why["runnerUp"].contains("host"));
  EXPECT_FALSE(why["decidedBy"].is_null());
  EXPECT_EQ(plan["placed"][0]["why"]["candidates"].get<std::size_t>() + why["refused"].size(), 6u);
  // Stable text for stable input.
  EXPECT_EQ(fdbpack({"place", "--fleet", kFleet, "--explain"}).out,
            fdbpack({"place", "--offline", kFleet, "--explain"}).out);
}

TEST(PlacementCli, WhatDoesNotFitIsExitCodeOne) {
  std::ifstream file(kFleet);
  nlohmann::json fleet = nlohmann::json::parse(file);
  fleet["clusters"][0]["spec"]["processes"]["storage"]["diskMiB"] = 1 << 30;
  const ProgramResult result = fdbpack({"place", "--fleet", "-"}, fleet.dump());
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("no host can take storage-7"));
  EXPECT_THAT(result.out, HasSubstr("storage_room: disk of 1073741824 MiB does not fit"));
}

// Two usable hosts for three copies: everything has a place, and the data is not safe.
TEST(PlacementCli, RedundancyThatIsNotMetIsExitCodeOne) {
  nlohmann::json fleet = nlohmann::json::parse(R"({
    "hosts": [],
    "clusters": [{"spec": {"name": "c", "version": "7.1.61",
                           "database": {"redundancyMode": "triple"},
                           "processes": {"storage": {
                               "count": 3, "diskMiB": 10240,
                               "storageUnit": {"type": "file", "key": "a"}}}},
                  "healthy": true, "processGroups": {}}]})");
  for (const char* id : {"h1", "h2", "h3"}) {
    fleet["hosts"].push_back(nlohmann::json::parse(R"({
      "cpu": 16, "memoryMiB": 65536,
      "storage": [{"sunit": ["file", "a", []], "free": 1000000, "total": 1000000}]})"));
    fleet["hosts"].back()["id"] = id;
  }
  EXPECT_EQ(fdbpack({"place", "--fleet", "-"}, fleet.dump()).exit_code, 0);
  fleet["hosts"][2]["unreachable"] = true;
  const ProgramResult table = fdbpack({"place", "--fleet", "-"}, fleet.dump());
  EXPECT_EQ(table.exit_code, 1);
  EXPECT_THAT(table.out, HasSubstr("c/storage: redundancy: its groups are in 2 physical domains "
                                   "(host), redundancy mode triple needs 3"));
  const ProgramResult json = fdbpack({"place", "--fleet", "-", "--json"}, fleet.dump());
  EXPECT_EQ(json.exit_code, 1);
  const nlohmann::json plan = nlohmann::json::parse(json.out);
  ASSERT_EQ(plan["violations"].size(), 1u);
  EXPECT_EQ(plan["violations"][0]["rule"], "redundancy");
}

TEST(PlacementCli, BadFleetsAreRefusedWithTheirPlace) {
  const ProgramResult unknown =
      fdbpack({"place", "--fleet", "-"}, R"({"hosts": [], "clusters": [], "x": 1})");
  EXPECT_EQ(unknown.exit_code, 65);
  EXPECT_THAT(unknown.error, HasSubstr("$.x"));
  std::ifstream file(kFleet);
  nlohmann::json fleet = nlohmann::json::parse(file);
  fleet["hosts"][1]["id"] = "db-1";
  const ProgramResult twice = fdbpack({"waves", "--fleet", "-"}, fleet.dump());
  EXPECT_EQ(twice.exit_code, 65);
  EXPECT_THAT(twice.error, HasSubstr("host db-1 is listed twice"));
  EXPECT_EQ(fdbpack({"place"}).exit_code, 64);
  EXPECT_EQ(fdbpack({"place", "--fleet", kFleet, "--relax", "storage_room"}).exit_code, 64);
  EXPECT_EQ(fdbpack({"place", "--fleet", "/nonexistent"}).exit_code, 66);
}

TEST(PlacementCli, OtherCommandsAnswer) {
  EXPECT_THAT(fdbpack({"explain", "--fleet", kFleet}).out, StartsWith("storage-7: the next group"));
  EXPECT_GT(json_of({"capacity", "--fleet", kFleet, "--lose", "host"})["more"], 0);
  EXPECT_EQ(json_of({"evacuate", "--fleet", kFleet, "--host", "db-1"})["complete"], true);
  EXPECT_EQ(fdbpack({"evacuate", "--fleet", kFleet, "--host", "db-99"}).exit_code, 64);
  EXPECT_EQ(fdbpack({"balance", "--fleet", kFleet, "--min-gain", "nan"}).exit_code, 64);
  // The only cluster need not be named.
  EXPECT_EQ(fdbpack({"evacuate", "--fleet", kFleet, "--set", "storage/default"}).exit_code, 0);
  EXPECT_GE(json_of({"waves", "--fleet", kFleet})["waves"].size(), 3u);
  const ProgramResult pod = fdbpack({"affinity", "storage-1", "--fleet", kFleet});
  EXPECT_EQ(nlohmann::json::parse(pod.out)["env"][0]["name"], "FDB_ZONE_ID");
  EXPECT_THAT(fdbpack({"fleet", "check", kFleet}).out, HasSubstr("good, 6 hosts"));
}

// Whatever size is asked for, what comes out is a fleet that the other commands take.
TEST(PlacementCli, GeneratedFleetsAreGood) {
  const std::vector<std::vector<std::string>> sizes = {
      {"--hosts", "1"},
      {"--hosts", "2", "--domains", "2"},
      {"--hosts", "3", "--groups-per-host", "0"},
      {"--hosts", "5", "--clusters", "5", "--groups-per-host", "1"},
      {"--hosts", "4", "--empty"}};
  for (std::vector<std::string> size : sizes) {
    SCOPED_TRACE(testing::PrintToString(size));
    size.insert(size.begin(), {"fleet", "generate"});
    const ProgramResult fleet = fdbpack(size);
    ASSERT_EQ(fleet.exit_code, 0) << fleet.error;
    for (const char* command : {"place", "balance", "waves"}) {
      const ProgramResult result = fdbpack({command, "--fleet", "-"}, fleet.out);
      EXPECT_EQ(result.exit_code, 0) << command << ": " << result.error << result.out;
    }
  }
}

// Control characters in names reach a terminal only as text.
TEST(PlacementCli, NamesCannotSteerATerminal) {
  std::ifstream file(kFleet);
  nlohmann::json fleet = nlohmann::json::parse(file);
  fleet["hosts"][0]["id"] = "db\x1b[2J";
  for (auto& [id, group] : fleet["clusters"][0]["processGroups"].items()) {
    if (group["host"] == "db-1") group["host"] = "db\x1b[2J";
  }
  for (const char* command : {"place", "explain", "balance", "waves", "capacity"}) {
    const ProgramResult result = fdbpack({command, "--fleet", "-"}, fleet.dump());
    EXPECT_EQ(result.out.find('\x1b'), std::string::npos) << command;
  }
  EXPECT_THAT(fdbpack({"waves", "--fleet", "-"}, fleet.dump()).out, HasSubstr("db\\x1b[2J"));
  EXPECT_THAT(fdbpack({"evacuate", "--fleet", kFleet, "--host", "\x1b[2J"}).error,
              HasSubstr("there is no host \\x1b[2J"));
  EXPECT_EQ(fdbpack({"evacuate", "--fleet", kFleet, "--domain", "host=db-1"}).exit_code, 0);
}

// Standard and tiered capacity of an htools cluster, in both forms.
TEST(PlacementCli, ForecastsHtoolsClusters) {
  const std::string text =
      "g|u|preferred||\n\nn1|4096|0|4096|20480|20480|4|N|u\n\n\n\n"
      "|1024,1,1024,1,1,1|512,1,1024,1,1,1;2048,2,2048,1,1,12|plain|4.0|32.0\n";
  const nlohmann::json result = json_of({"capacity", "--htools", "-"}, text);
  EXPECT_EQ(result["more"], 3);
  ASSERT_EQ(result["tiers"].size(), 2u);
  EXPECT_EQ(result["tiers"][0]["memory"], 2048);
  EXPECT_EQ(result["tiers"][1]["memory"], 1984);
  EXPECT_THAT(fdbpack({"capacity", "--htools", "-"}, text).out,
              HasSubstr("from the largest that the policy allows downwards:\nMEMORY"));
  const ProgramResult endless =
      fdbpack({"capacity", "--htools", "-"},
              "g|u|preferred||\n\nn1|4096|0|4096|20480|20480|4|N|u\n\n\n\n"
              "|64,1,256,1,1,1|0,0,0,1,1,1;0,0,0,1,1,12|diskless|4.0|32.0\n"
              "g|64,1,256,1,1,1|0,0,0,1,1,1;0,0,0,1,1,12|diskless|4.0|32.0\n");
  EXPECT_EQ(endless.exit_code, 65);
  EXPECT_THAT(endless.error, HasSubstr("with 0 MiB of memory: how many fit has no limit"));
}

TEST(PlacementCli, BalancesBothKindsOfFiles) {
  const std::string text = fdbpack({"fleet", "generate", "--hosts", "20", "--htools"}).out;
  const nlohmann::json result =
      json_of({"balance", "--htools", "-", "--objective", "htools"}, text);
  EXPECT_LT(result["finalScore"].get<double>(), result["initialScore"].get<double>());
  EXPECT_FALSE(result["moves"].empty());
  const auto refused = fdbpack({"balance", "--fleet", kFleet, "--objective", "htools"});
  EXPECT_EQ(refused.exit_code, 64);
  EXPECT_NE(refused.error.find("knows no fault domains"), std::string::npos);
  EXPECT_EQ(fdbpack({"balance", "--htools", "-", "--objective", "default"}, text).exit_code, 64);
  EXPECT_EQ(fdbpack({"place", "--fleet", kFleet, "--objective", "htools"}).exit_code, 64);
  EXPECT_EQ(fdbpack({"capacity", "--fleet", kFleet, "--by", "bogus"}).exit_code, 64);
  EXPECT_EQ(fdbpack({"fleet", "generate", "--hosts", "3", "--azs", "0"}).exit_code, 64);
  EXPECT_TRUE(json_of({"balance", "--fleet", kFleet}).contains("dataMiB"));
  const std::string fleet =
      fdbpack({"fleet", "generate", "--hosts", "12", "--domains", "3", "--seed", "7"}).out;
  EXPECT_EQ(fleet,
            fdbpack({"fleet", "generate", "--hosts", "12", "--domains", "3", "--seed", "7"}).out);
  EXPECT_LE(json_of({"balance", "--fleet", "-"}, fleet)["finalScore"].get<double>(),
            json_of({"balance", "--fleet", "-"}, fleet)["initialScore"].get<double>());
}

// A disk of 15 GiB on units of 10 + 10 GiB: refused with the `storage` field, taken without it.
TEST(PlacementCli, AllocationRequestsUseStorageUnits) {
  nlohmann::json request = nlohmann::json::parse(R"({
    "cluster_tags": [], "instances": {},
    "nodegroups": {"u": {"name": "g", "alloc_policy": "preferred"}},
    "nodes": {"n1": {"total_memory": 4096, "free_memory": 4096, "total_disk": 20480,
                     "free_disk": 20480, "total_cpus": 4, "group": "u", "offline": false}},
    "request": {"type": "allocate", "name": "i", "required_nodes": 1, "memory": 512, "vcpus": 1,
                "disks": [{"size": 15360}], "disk_space_total": 15360,
                "disk_template": "plain"}})");
  EXPECT_EQ(json_of({"place", "--request", "-"}, request.dump())["result"][0], "n1");
  request["nodes"]["n1"]["storage"] = nlohmann::json::parse(R"([
    {"sunit": ["lvm-vg", "a", []], "free": 10240, "total": 10240},
    {"sunit": ["lvm-vg", "b", []], "free": 10240, "total": 10240}])");
  const ProgramResult refused = fdbpack({"place", "--request", "-"}, request.dump());
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.out,
              HasSubstr("disk of 15360 MiB does not fit: lvm-vg:a has 10240 MiB free"));
}

}  // namespace
}  // namespace fdbpack::cli
