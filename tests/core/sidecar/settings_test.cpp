// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/sidecar/settings.hpp"

#include <gmock/gmock.h>

namespace fdbpack::sidecar {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<std::string> no_host_address() {
  return fail(ErrorCode::unavailable, "the host has no address");
}

Result<Settings> make(const std::vector<std::string>& arguments, const Environment& environment,
                      const std::string& version = "7.1.43\n") {
  const auto options = parse_options(arguments);
  EXPECT_TRUE(options);
  return make_settings(*options, environment, version, no_host_address);
}

std::string error_of(const std::vector<std::string>& arguments, Environment environment) {
  environment.emplace("FDB_POD_IP", "10.0.0.7");
  const auto settings = make(arguments, environment);
  return settings ? "" : settings.error().message;
}

TEST(SidecarSettings, BinaryDirDependsOnTheMainContainer) {
  const Environment environment{{"FDB_POD_IP", "10.0.0.7"}};
  EXPECT_EQ(make({}, environment)->substitutions.value("BINARY_DIR"),
            "/var/dynamic-conf/bin/7.1.43");
  EXPECT_EQ(make({"--main-container-conf-dir", "/x//y/./"}, environment)
                ->substitutions.value("BINARY_DIR"),
            "/x/y/bin/7.1.43");
  const auto same =
      make({"--main-container-version", "7.1.43", "--copy-binary", "fdbserver"}, environment);
  EXPECT_EQ(same->substitutions.value("BINARY_DIR"), "/usr/bin");
  EXPECT_TRUE(same->plan.binaries.empty());
}

TEST(SidecarSettings, PlansWhatGoesWhere) {
  const auto settings =
      make({"--copy-file", "fdb.cluster", "--copy-file", "nested/./ca.pem", "--copy-binary",
            "fdbserver", "--copy-library", "7.1", "--copy-library", "6.3", "--require-not-empty",
            "fdb.cluster", "--input-monitor-conf", "fdbmonitor.conf", "--input-dir", "/in"},
           {{"FDB_POD_IP", "10.0.0.7"}});
  ASSERT_TRUE(settings) << settings.error().message;
  const auto paths = [](const std::vector<CopyItem>& items) {
    std::vector<std::string> result;
    for (const auto& item : items)
      result.push_back(item.source + " > " + item.target);
    return result;
  };
  EXPECT_THAT(paths(settings->plan.files),
              ElementsAre("/in/fdb.cluster > fdb.cluster", "/in/nested/./ca.pem > nested/ca.pem"));
  EXPECT_THAT(paths(settings->plan.binaries),
              ElementsAre("/usr/bin/fdbserver > bin/7.1.43/fdbserver"));
  EXPECT_EQ(settings->plan.binaries[0].mode, 0744U);
  EXPECT_THAT(paths(settings->plan.libraries),
              ElementsAre("/var/fdb/lib/libfdb_c_7.1.so > lib/libfdb_c.so",
                          "/var/fdb/lib/libfdb_c_6.3.so > lib/multiversion/libfdb_c_6.3.so"));
  EXPECT_THAT(settings->plan.required, ElementsAre("/in/fdb.cluster"));
  EXPECT_EQ(settings->plan.conf_source, "/in/fdbmonitor.conf");
}

TEST(SidecarSettings, NoNameLeadsOutOfTheOutputDirectory) {
  for (const char* name : {"../x", "a/../../x", "/etc/passwd", "", ".", "a/", ".."}) {
    for (const char* option : {"--copy-file", "--copy-binary", "--copy-library"}) {
      const std::string argument = std::string(option) + "=" + name;
      EXPECT_THAT(error_of({argument}, {}), HasSubstr("is no name of a file")) << argument;
    }
  }
}

TEST(SidecarSettings, ListensWhereThePodIs) {
  const auto address = [](const std::vector<std::string>& arguments, const Environment& variables) {
    const auto settings = make(arguments, variables);
    if (!settings) return settings.error().message;
    const BindAddress& bind = settings->bind_address;
    return bind.host + " " + std::to_string(bind.port) + (bind.is_v6 ? " v6" : "");
  };
  EXPECT_EQ(address({}, {{"FDB_POD_IP", "10.0.0.7"}, {"FDB_PUBLIC_IP", "1.2.3.4"}}),
            "10.0.0.7 8080");
  EXPECT_EQ(address({}, {{"FDB_PUBLIC_IP", "1.2.3.4"}}), "1.2.3.4 8080");
  EXPECT_EQ(address({}, {{"FDB_POD_IP", ""}}), "0.0.0.0 8080");
  EXPECT_EQ(address({"--bind-address", "[::]:81"}, {{"FDB_POD_IP", ""}}), ":: 81 v6");
  EXPECT_THAT(address({"--bind-address", "nonsense"}, {{"FDB_POD_IP", ""}}), HasSubstr("IP:PORT"));
  EXPECT_THAT(address({"--bind-address", "a:65536"}, {{"FDB_POD_IP", ""}}), HasSubstr("IP:PORT"));
  EXPECT_EQ(address({}, {}), "the host has no address");
}

TEST(SidecarSettings, PicksAnAddressOfTheFamily) {
  EXPECT_EQ(*pick_address("4", "fd00::1,10.0.0.1,10.0.0.2"), "10.0.0.1");
  EXPECT_EQ(*pick_address("6", "10.0.0.1,fd00::1"), "[fd00::1]");
  EXPECT_EQ(*pick_address("6", "fe80::1%eth0"), "[fe80::1%eth0]");
  EXPECT_EQ(*pick_address("6", ""), "");
  EXPECT_EQ(pick_address("6", "10.0.0.1,10.0.0.2").error().message,
            "Failed to find IPv6 entry in ['10.0.0.1', '10.0.0.2']");
  EXPECT_FALSE(pick_address("4", "10.0.0.1x"));
  EXPECT_FALSE(pick_address("5", "10.0.0.1"));
}

TEST(SidecarSettings, SaysWhichVariableIsMissing) {
  EXPECT_THAT(error_of({"--substitute-variable", "NOPE", "--input-monitor-conf", "c"}, {}),
              HasSubstr("NOPE"));
  // Without a conf it is told as null, as before.
  EXPECT_EQ(error_of({"--substitute-variable", "NOPE"}, {}), "");
}

TEST(SidecarSettings, RefusesTheVariablesOfOldReleases) {
  for (const char* name : {"SIDECAR_CONF_DIR", "INPUT_DIR", "OUTPUT_DIR", "COPY_ONCE"}) {
    EXPECT_THAT(error_of({}, {{name, "1"}}), HasSubstr(name));
    EXPECT_EQ(error_of({}, {{name, ""}}), "");
  }
}

TEST(SidecarSettings, NeedsAVersion) {
  const Environment environment{{"FDB_POD_IP", "10.0.0.7"}};
  EXPECT_FALSE(make({}, environment, ""));
  EXPECT_FALSE(make({}, environment, "seven"));
  EXPECT_FALSE(make({"--copy-binary", "x"}, environment, "7.1/../../x"));
  EXPECT_EQ(make({}, environment, "7.3.99")->dialect, Dialect::before_7_4);
  EXPECT_EQ(make({}, environment, "7.4.0-rc1")->dialect, Dialect::since_7_4);
  EXPECT_EQ(make({}, environment, "8.0.0")->dialect, Dialect::since_7_4);
}

TEST(SidecarSettings, TlsNeedsItsThreeFilesAndGoodRules) {
  Environment environment{{"FDB_TLS_CERTIFICATE_FILE", "/c"}, {"FDB_TLS_KEY_FILE", "/k"}};
  EXPECT_THAT(error_of({"--tls"}, environment), HasSubstr("FDB_TLS_CA_FILE"));
  environment["FDB_POD_IP"] = "10.0.0.7";
  const auto settings = make({"--tls", "--tls-ca-file", "/ca"}, environment);
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->tls->certificate_file, "/c");
  EXPECT_EQ(settings->tls->ca_file, "/ca");
  EXPECT_TRUE(settings->tls->warnings.empty());
  EXPECT_THAT(error_of({"--tls", "--tls-ca-file=/ca", "--tls-verify-peers", "X.Y=z"}, environment),
              HasSubstr("peer rules"));
  environment["FDB_TLS_VERIFY_PEERS"] = "R.CN=x|Check.Valid=0";
  EXPECT_EQ(make({"--tls", "--tls-ca-file=/ca"}, environment)->tls->warnings.size(), 2U);
}

}  // namespace
}  // namespace fdbpack::sidecar
