// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/conf/group_conf.hpp"

#include "fdbpack/base/random.hpp"
#include "fdbpack/base/text.hpp"
#include "fdbpack/conf/group_render.hpp"
#include "fdbpack/conf/listener.hpp"
#include "fdbpack/conf/unified.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace fdbpack::conf {
namespace {

using model::ProcessClass;
using testing::HasSubstr;
using testing::Not;

const Environment kHost{{"FDB_PUBLIC_IP", "10.0.0.1"},    {"FDB_POD_IP", "10.0.0.2"},
                        {"FDB_INSTANCE_ID", "storage-1"}, {"FDB_MACHINE_ID", "machine-1"},
                        {"FDB_ZONE_ID", "zone-1"},        {"FDB_DNS_NAME", "a.b.c"},
                        {"BINARY_DIR", "/usr/bin"}};

TEST(TemplateName, HoldsTheDensityAboveOne) {
  EXPECT_EQ(template_name(ProcessClass::storage, 1), "fdbmonitor-conf-storage");
  EXPECT_EQ(template_name(ProcessClass::log, 3), "fdbmonitor-conf-log-density-3");
}

TEST(GroupConf, RefusesADensityThatMakesNoSense) {
  GroupConf group;
  group.density = 0;
  EXPECT_THAT(arguments(group).error().message, HasSubstr("density of 0"));
  group.density = 2;
  group.process_class = ProcessClass::stateless;
  EXPECT_THAT(arguments(group).error().message,
              HasSubstr("class stateless runs one server per disk"));
}

TEST(GroupConf, RefusesAPortBeyondTheLastAndNamesTheProcess) {
  GroupConf group;
  group.density = 2;
  group.port_slot = 30517;  // 4499 + 2 * (30517 + 1) is 65535
  const auto refused = arguments(group);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("process 2 of class storage"));
  group.density = 1;
  EXPECT_TRUE(arguments(group).has_value());
  group.listeners = {true, false};
  group.density = 2;
  EXPECT_FALSE(arguments(group).has_value());
}

TEST(GroupConf, PutsTheTlsListenerFirstWhileTlsIsSwitched) {
  GroupConf group;
  group.listeners = {true, true};
  group.port_slot = 3;
  const std::string text = render_builtin(group).value();
  EXPECT_THAT(text, HasSubstr("public_address = $FDB_PUBLIC_IP:4506:tls,$FDB_PUBLIC_IP:4507\n"));
}

TEST(GroupConf, AnAdministratorsLocalityStandsInsteadOfTheSpecs) {
  GroupConf group;
  group.data_center = "dc1";
  group.data_hall = "hall";
  group.custom_parameters = {{"locality-dcid", "mine"}, {"knob_a", "b=c"}};
  const std::string text = render_builtin(group).value();
  EXPECT_THAT(text, HasSubstr("locality-dcid = mine\nknob_a = b=c\nlocality_data_hall = hall"));
  EXPECT_THAT(text, Not(HasSubstr("dc1")));
}

TEST(FillVariables, PutsIpv6IntoBracketsOnceAndFillsTheLongestName) {
  const Environment environment{{"FDB_POD_IP", "fd00::1"}, {"FDB_POD_IPS", "x"}};
  EXPECT_EQ(fill_variables("a=$FDB_POD_IP:1,[$FDB_POD_IP]:2 b=$FDB_POD_IPS c=$ID/$PID", environment)
                .value(),
            "a=[fd00::1]:1,[fd00::1]:2 b=x c=$ID/$PID");
}

TEST(FillVariables, NamesWhatIsMissingAndNeverFillsTwice) {
  EXPECT_THAT(fill_variables("z = $FDB_ZONE_ID", {}).error().message,
              HasSubstr("variable FDB_ZONE_ID has no value"));
  EXPECT_EQ(fill_variables("z = $FDB_ZONE_ID $", {}, {std::nullopt, false}).value(),
            "z = $FDB_ZONE_ID $");
  const Environment nested{{"A", "$B"}, {"B", "x"}};
  EXPECT_EQ(fill_variables("$A", nested).value(), "$B");
}

TEST(FillVariables, TakesOneAddressOfAList) {
  const Environment environment{{"FDB_PUBLIC_IP", "bad,10.0.0.1,fd00::1"}};
  EXPECT_EQ(fill_variables("$FDB_PUBLIC_IP", environment, {6}).value(), "[fd00::1]");
  EXPECT_EQ(fill_variables("$FDB_PUBLIC_IP", environment, {4}).value(), "10.0.0.1");
  EXPECT_THAT(fill_variables("$FDB_PUBLIC_IP", environment).error().message,
              HasSubstr("lists several addresses"));
}

TEST(CheckRendered, RefusesConfsThatWouldHurt) {
  const std::string head = "[general]\nrestart_delay=60\n[x]\ncommand=/x\n";
  EXPECT_THAT(check_rendered("t.inja", "[general]\n").error().message,
              HasSubstr("no process section"));
  EXPECT_THAT(check_rendered("t.inja", "[x.1]\n").error().message,
              HasSubstr("Unable to resolve restart delay"));
  EXPECT_THAT(check_rendered("t.inja", head + "datadir=/d\n[x.1]\n[x.2]\n").error().message,
              HasSubstr("t.inja is refused: [x.1] and [x.2] both use the data directory /d"));
  EXPECT_TRUE(check_rendered("t.inja", head + "[x.1]\n").has_value());
}

GroupConf random_group(Random& random) {
  static constexpr ProcessClass kDense[] = {ProcessClass::storage, ProcessClass::log,
                                            ProcessClass::transaction};
  GroupConf group;
  group.process_class = kDense[random.below(3)];
  group.density = static_cast<int>(random.between(1, 64));
  group.port_slot = static_cast<int>(random.between(0, 20000));
  group.listeners.tls = random.chance(0.5);
  group.listeners.plain = !group.listeners.tls || random.chance(0.5);
  group.log_group = "g";
  group.has_listen_address = random.chance(0.5);
  group.has_dns_name = random.chance(0.5);
  if (random.chance(0.5)) group.data_center = "dc";
  if (random.chance(0.5)) group.verify_peers = "S.CN=a,O=b|C.CN=d";
  if (random.chance(0.5))
    group.custom_parameters = {{"knob_x", "1"}, {"locality_rack", "$FDB_ZONE_ID"}};
  return group;
}

// The three forms of one group must agree, whatever the group: the conf through fdbmonitor's rules,
// the unified configuration through fdb-kubernetes-monitor's, and no two processes may share a port
// or a directory.
TEST(GroupConf, EveryDensityGivesEachProcessItsOwnPortsAndDirectory) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    GroupConf group = random_group(random);
    const std::string text = render_builtin(group).value();
    ASSERT_EQ(text, render_builtin(group).value());
    ASSERT_TRUE(check_rendered("builtin", text).has_value());
    const std::string filled = fill_variables(text, kHost).value();
    const auto processes = resolve(parse(filled).document).processes;
    ASSERT_EQ(processes.size(), static_cast<std::size_t>(group.density));
    EXPECT_TRUE(find_conflicts(processes).empty());

    group.is_always_numbered = group.density > 1;
    const auto unified = unified_conf(group, "7.1.57").value();
    for (int number = 1; number <= group.density; ++number) {
      auto words = generate_all(unified, number, kHost, "/usr/bin/fdbserver").value();
      for (std::string& word : words) {
        word = text::replace_all(text::replace_all(word, "[10.0.0.1]", "10.0.0.1"), "[10.0.0.2]",
                                 "10.0.0.2");
      }
      std::sort(words.begin() + 1, words.end());
      const auto same = std::find_if(
          processes.begin(), processes.end(),
          [&](const ProcessCommand& process) { return process.id == std::to_string(number); });
      ASSERT_NE(same, processes.end());
      EXPECT_EQ(same->argv, words);
    }
  }
}

}  // namespace
}  // namespace fdbpack::conf
