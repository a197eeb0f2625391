// SPDX-License-Identifier: Apache-2.0
//
// Versions against fdb-kubernetes-monitor's cases; process group IDs and fault tolerance against
// the FDB operator's.
#include "fdbpack/model/database.hpp"
#include "fdbpack/model/ids.hpp"
#include "fdbpack/model/version.hpp"
#include "tests/support/goldens.hpp"

#include <gtest/gtest.h>

#include <string>

namespace fdbpack::model {
namespace {

using nlohmann::json;

Version version(const json& text) {
  return find_version(text.get<std::string>()).value();
}

void expect_parsed(const json& golden) {
  const auto found = find_version(golden.at("input").get<std::string>());
  const json& expected = golden.at("expected");
  if (expected.contains("error")) {
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().message, expected.at("error").get<std::string>());
    return;
  }
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*found, (Version{expected.at("major"), expected.at("minor"), expected.at("patch"),
                             expected.at("rc")}));
}

void expect_formatted(const json& golden) {
  for (const auto& row : golden.at("cases")) {
    const json& parts = row.at(0);
    EXPECT_EQ(to_string(Version{parts.at(0), parts.at(1), parts.at(2), parts.at(3)}),
              row.at(1).get<std::string>());
  }
  const json& next = golden.at("next");
  const Version base = version(next.at("of"));
  EXPECT_EQ(to_string(base.next_major()), next.at("major").get<std::string>());
  EXPECT_EQ(to_string(base.next_minor()), next.at("minor").get<std::string>());
  EXPECT_EQ(to_string(base.next_patch()), next.at("patch").get<std::string>());
  for (const auto& quoted : golden.at("json_roundtrip")) {
    const auto text = json::parse(quoted.get<std::string>()).get<std::string>();
    EXPECT_EQ(to_string(parse_version(text).value()), text);
  }
}

TEST(LauncherVersion, MatchesEveryCase) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "monitor/k8smonitor_version");
  const auto files = support::golden_files(folder);
  ASSERT_FALSE(files.empty());
  for (const auto& file : files) {
    SCOPED_TRACE(file.filename());
    const json golden = support::read_golden(file);
    if (!golden.value("conformance", true)) continue;
    const auto kind = golden.at("kind").get<std::string>();
    if (kind == "parse_version") {
      expect_parsed(golden);
    } else if (kind == "format") {
      expect_formatted(golden);
    } else {
      const Version a = version(golden.at("a"));
      const Version b = version(golden.at("b"));
      const bool expected = golden.at("expected").get<bool>();
      if (kind == "equal") {
        EXPECT_EQ(a == b, expected);
      } else if (kind == "is_at_least") {
        EXPECT_EQ(a.is_at_least(b), expected);
      } else {
        ASSERT_EQ(kind, "is_protocol_compatible");
        EXPECT_EQ(a.is_protocol_compatible(b), expected);
      }
    }
  }
}

TEST(OperatorProcessGroupId, IsParsedAlike) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "operator/tables");
  const json cases = support::read_golden(folder / "process_group_id.json");
  ASSERT_FALSE(cases.empty());
  for (const auto& row : cases) {
    const auto text = row.at("id").get<std::string>();
    const auto id = parse_process_group_id(text);
    ASSERT_EQ(id.has_value(), !row.contains("error")) << text;
    if (!id) {
      EXPECT_TRUE(id.error().message.starts_with(row.at("error").get<std::string>()));
      continue;
    }
    EXPECT_EQ(to_string(*id), text);
    if (row.contains("number")) {
      EXPECT_EQ(id->number, row.at("number").get<std::uint32_t>());
    }
    if (row.contains("class")) {
      EXPECT_EQ(to_string(id->process_class), row.at("class").get<std::string>());
    }
  }
}

TEST(OperatorProcessGroupId, NamesItsClass) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "operator/entries");
  const auto files = support::golden_files(folder, "process-class-from-the-process-group-id");
  ASSERT_EQ(files.size(), 1u);
  const json golden = support::read_golden(files.front());
  for (const auto& entry : golden.at("entries")) {
    const auto id = parse_process_group_id(entry.at("args").at(0).get<std::string>());
    ASSERT_TRUE(id) << id.error().message;
    EXPECT_EQ(to_string(id->process_class), entry.at("args").at(1).get<std::string>());
  }
}

TEST(OperatorRedundancy, ToleratesTheSameFaults) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "operator/tables");
  const json cases = support::read_golden(folder / "fault_tolerance.json");
  ASSERT_FALSE(cases.empty());
  for (const auto& row : cases) {
    const auto name = row.at("redundancy").get<std::string>();
    RedundancyMode mode = Database().redundancy_mode;
    for (const auto known : all_redundancy_modes()) {
      if (to_string(known) == name) mode = known;
    }
    EXPECT_EQ(fault_tolerance(mode), row.at("faultTolerance").get<std::uint32_t>()) << row;
    EXPECT_EQ(minimum_fault_domains(mode), row.at("minimumFaultDomains").get<std::uint32_t>());
  }
}

}  // namespace
}  // namespace fdbpack::model
