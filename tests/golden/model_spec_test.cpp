// SPDX-License-Identifier: Apache-2.0
//
// What the FDB operator accepts and refuses in a cluster's spec, and what we do with the same.
#include "fdbpack/base/text.hpp"
#include "fdbpack/model/custom_parameter.hpp"
#include "fdbpack/wire/spec_json.hpp"
#include "tests/support/goldens.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fdbpack {
namespace {

using nlohmann::json;

json minimal_spec() {
  return {{"name", "test-cluster"},
          {"version", "7.1.57"},
          {"processes", {{"storage", {{"count", 3}}}}}};
}

json table(const std::filesystem::path& folder, const std::string& name) {
  const auto files = support::golden_files(folder, name);
  return files.size() == 1 ? support::read_golden(files.front()).at("entries") : json::array();
}

// The operator's message has one line on top and one for each violation, with the name behind its
// first colon.
TEST(OperatorCustomParameters, AreRefusedAlike) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "operator/entries");
  const json entries = table(folder, "validating-the-custom-parameters");
  ASSERT_FALSE(entries.empty());
  for (const auto& entry : entries) {
    const auto given = entry.at("args").at(0).get<std::vector<std::string>>();
    const json& expected = entry.at("args").at(1);
    const auto parsed = model::parse_custom_parameters(given);
    if (expected.is_null()) {
      EXPECT_TRUE(parsed.violations.empty()) << entry;
      EXPECT_EQ(parsed.parameters.size(), given.size());
      continue;
    }
    const auto message = expected.at("error").get<std::string>();
    const auto lines = text::split(message, '\n');
    ASSERT_EQ(parsed.violations.size(), lines.size() - 1) << entry;
    for (std::size_t i = 0; i < parsed.violations.size(); ++i) {
      const auto behind = lines[i + 1].substr(lines[i + 1].find(": ") + 2);
      const std::string name(behind.substr(0, behind.find(',')));
      EXPECT_THAT(parsed.violations[i].message, testing::HasSubstr("\"" + name + "\""));
    }
  }
}

// Rows that choose coordinators by class are about a field that this spec does not have.
TEST(OperatorSpec, VersionsAndEnginesAreRefusedAlike) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "operator/entries");
  const json entries = table(folder, "validating-a-cluster");
  std::size_t compared = 0;
  for (const auto& entry : entries) {
    const json& theirs = entry.at("args").at(0).at("Spec");
    if (theirs.contains("CoordinatorSelection")) continue;
    json ours = minimal_spec();
    ours["version"] = theirs.at("Version");
    ours["database"]["storageEngine"] = theirs.at("DatabaseConfiguration").at("StorageEngine");
    const auto spec = wire::read_cluster_spec(ours.dump());
    EXPECT_EQ(spec.has_value(), entry.at("args").at(1).is_null()) << entry.at("name");
    ++compared;
  }
  EXPECT_GE(compared, 5u);
}

// A value with `$` is the operator's way to name a variable; without one it is a field of a pod,
// which is not ours.
TEST(OperatorZoneVariable, IsNamedAlike) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "operator/entries");
  const json entries = table(folder, "getting-the-zone-variable-name");
  ASSERT_FALSE(entries.empty());
  for (const auto& entry : entries) {
    const json& domain = entry.at("args").at(0);
    const auto from = domain.is_object() ? domain.value("ValueFrom", "") : std::string();
    json ours = minimal_spec();
    ours["zoneVariable"] = from.starts_with("$") ? from : "";
    const auto spec = wire::read_cluster_spec(ours.dump());
    ASSERT_TRUE(spec) << spec.error().message;
    EXPECT_EQ(spec->effective_zone_variable(), entry.at("args").at(1).get<std::string>());
  }
}

}  // namespace
}  // namespace fdbpack
