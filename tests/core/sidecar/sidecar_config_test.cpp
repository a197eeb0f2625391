// SPDX-License-Identifier: Apache-2.0
//
// The configuration that sidecar.py made of its flags and its environment.
#include "fdbpack/sidecar/settings.hpp"
#include "tests/support/goldens.hpp"

#include <gmock/gmock.h>

namespace fdbpack::sidecar {
namespace {

constexpr const char* kHostAddress = "192.0.2.1";

Result<Settings> make(const std::vector<std::string>& arguments, const Environment& environment) {
  const auto options = parse_options(arguments);
  EXPECT_TRUE(options);
  return make_settings(*options, environment, "7.1.43",
                       []() -> Result<std::string> { return std::string(kHostAddress); });
}

Result<Settings> make(const nlohmann::json& golden) {
  return make(golden["args"].get<std::vector<std::string>>(), golden["env"].get<Environment>());
}

TEST(SidecarConfigGolden, PublicIpFamily) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "monitor/sidecar_config");
  const auto golden = support::read_golden(folder / "public_ip_family_6.json");
  const auto settings = make(golden);
  ASSERT_TRUE(settings) << settings.error().message;
  for (const auto& [name, value] : golden["expected"]["substitutions"].items()) {
    EXPECT_EQ(settings->substitutions.value(name), value.get<std::string>()) << name;
  }
  const BindAddress& bind = settings->bind_address;
  EXPECT_EQ("[" + bind.host + "]:" + std::to_string(bind.port),
            golden["expected"]["bind_address"].get<std::string>());
  EXPECT_TRUE(bind.is_v6);
}

TEST(SidecarConfigGolden, AnUnsetVariableIsFatalAndNamed) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "monitor/sidecar_config");
  const auto golden = support::read_golden(folder / "substitute_variable_unset_is_fatal.json");
  ASSERT_TRUE(golden["expected"].contains("fatal"));
  const auto settings = make(golden);
  ASSERT_FALSE(settings);
  EXPECT_THAT(settings.error().message, testing::HasSubstr("NOPE"));
}

TEST(SidecarConfigGolden, Defaults) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "monitor/sidecar_config");
  const auto golden = support::read_golden(folder / "substitution_defaults.json");
  // The rules are prose; this is what is held against them, one by one.
  ASSERT_EQ(golden["rules"].size(), 4U);
  const auto value = [](const Environment& environment, const std::string& name,
                        const std::vector<std::string>& arguments = {}) {
    const auto settings = make(arguments, environment);
    return settings ? std::string(settings->substitutions.value(name)) : settings.error().message;
  };
  ASSERT_EQ(golden["rules"][0]["if"], "FDB_MACHINE_ID empty");
  EXPECT_EQ(value({{"HOSTNAME", "h1"}}, "FDB_MACHINE_ID"), "h1");
  EXPECT_EQ(value({{"HOSTNAME", "h1"}, {"FDB_MACHINE_ID", ""}}, "FDB_MACHINE_ID"), "h1");
  EXPECT_EQ(value({}, "FDB_MACHINE_ID"), "");
  EXPECT_EQ(value({{"HOSTNAME", "h1"}, {"FDB_MACHINE_ID", "m"}}, "FDB_MACHINE_ID"), "m");
  ASSERT_EQ(golden["rules"][1]["if"], "FDB_ZONE_ID empty");
  EXPECT_EQ(value({{"FDB_MACHINE_ID", "m"}}, "FDB_ZONE_ID"), "m");
  EXPECT_EQ(value({{"HOSTNAME", "h1"}}, "FDB_ZONE_ID"), "h1");
  EXPECT_EQ(value({{"FDB_MACHINE_ID", "m"}, {"FDB_ZONE_ID", "z"}}, "FDB_ZONE_ID"), "z");
  ASSERT_EQ(golden["rules"][2]["if"], "FDB_PUBLIC_IP empty");
  EXPECT_EQ(value({{"FDB_POD_IP", "10.0.0.7"}}, "FDB_PUBLIC_IP"), "10.0.0.7");
  EXPECT_EQ(value({{"FDB_POD_IP", ""}}, "FDB_PUBLIC_IP"), "");
  EXPECT_EQ(value({}, "FDB_PUBLIC_IP"), kHostAddress);
  ASSERT_EQ(golden["rules"][3]["if"], "main_container_version==primary_version");
  EXPECT_EQ(value({}, "BINARY_DIR", {"--main-container-version", "7.1.43"}), "/usr/bin");
  EXPECT_EQ(value({}, "BINARY_DIR", {"--main-container-version", "6.3.22"}),
            "/var/dynamic-conf/bin/7.1.43");
}

TEST(SidecarConfigGolden, EveryCaseIsLookedAt) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "monitor/sidecar_config");
  EXPECT_EQ(support::golden_cases(folder).size(), 3U);
}

}  // namespace
}  // namespace fdbpack::sidecar
