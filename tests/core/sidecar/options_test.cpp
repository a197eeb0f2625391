// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/sidecar/options.hpp"

#include <gmock/gmock.h>

namespace fdbpack::sidecar {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(SidecarOptions, TakesTheOperatorsCommandLine) {
  const auto options = parse_options(
      {"--copy-file", "fdb.cluster", "--copy-file=ca.pem", "--input-monitor-conf",
       "fdbmonitor.conf", "--copy-binary", "fdbserver", "--copy-binary", "fdbcli",
       "--main-container-version", "7.1.43", "--public-ip-family", "6", "--bind-address",
       "[::]:8080", "--substitute-variable", "FDB_POD_IP", "--tls", "--init-mode"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_THAT(options->copy_files, ElementsAre("fdb.cluster", "ca.pem"));
  EXPECT_THAT(options->copy_binaries, ElementsAre("fdbserver", "fdbcli"));
  EXPECT_THAT(options->substitute_variables, ElementsAre("FDB_POD_IP"));
  EXPECT_EQ(options->input_monitor_conf, "fdbmonitor.conf");
  EXPECT_EQ(options->main_container_version, "7.1.43");
  EXPECT_EQ(options->public_ip_family, "6");
  EXPECT_EQ(options->bind_address, "[::]:8080");
  EXPECT_TRUE(options->uses_tls);
  EXPECT_TRUE(options->is_init_mode);
}

TEST(SidecarOptions, HasTheDefaultsOfTheImage) {
  const auto options = parse_options({});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->input_dir, "/var/input-files");
  EXPECT_EQ(options->output_dir, "/var/output-files");
  EXPECT_EQ(options->main_container_conf_dir, "/var/dynamic-conf");
  EXPECT_EQ(options->version_file, "/var/fdb/version");
  EXPECT_EQ(options->binary_dir, "/usr/bin");
  EXPECT_EQ(options->library_dir, "/var/fdb/lib");
  EXPECT_FALSE(options->main_container_version);
}

TEST(SidecarOptions, ABeginningOfANameIsEnoughWhenItFitsNoOther) {
  EXPECT_EQ(parse_options({"--bi", "a:1"})->bind_address, "a:1");  // --binary-dir is ours
  EXPECT_EQ(parse_options({"--req=x"})->require_not_empty.at(0), "x");
  EXPECT_TRUE(parse_options({"--tls"})->uses_tls);  // the whole name, if others begin with it
  const auto ambiguous = parse_options({"--copy", "x"});
  ASSERT_FALSE(ambiguous);
  EXPECT_THAT(ambiguous.error().message, HasSubstr("--copy-file, --copy-binary, --copy-library"));
  EXPECT_FALSE(parse_options({"--version", "x"}));
}

TEST(SidecarOptions, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(parse_options({"--bogus"}).error().message, HasSubstr("--bogus"));
  EXPECT_FALSE(parse_options({"word"}));
  EXPECT_FALSE(parse_options({"--"}));
  EXPECT_FALSE(parse_options({"-x"}));
  EXPECT_FALSE(parse_options({"--init-mode=yes"}));
  EXPECT_THAT(parse_options({"--copy-file"}).error().message, HasSubstr("expected one argument"));
  EXPECT_FALSE(parse_options({"--copy-file", "--tls"}));
}

TEST(SidecarOptions, HelpNamesEveryOption) {
  EXPECT_TRUE(parse_options({"-h", "--bogus"})->wants_help);
  for (const char* name : {"--init-mode", "--bind-address", "--tls-verify-peers", "--copy-library",
                           "--main-container-conf-dir", "--library-dir"}) {
    EXPECT_THAT(help_text(), HasSubstr(name));
  }
}

}  // namespace
}  // namespace fdbpack::sidecar
