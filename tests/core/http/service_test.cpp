// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/http/service.hpp"

#include <gtest/gtest.h>

namespace fdbpack::http {
namespace {

using Security = ListenPlace::Security;

TEST(ListenPlace, IsAnAddressAndAPort) {
  EXPECT_EQ(*parse_listen_place("127.0.0.1:4490"),
            (ListenPlace{"127.0.0.1", 4490, Security::automatic}));
  EXPECT_EQ(*parse_listen_place("https://[::1]:0"), (ListenPlace{"::1", 0, Security::tls}));
  EXPECT_EQ(*parse_listen_place("http://0.0.0.0:80"),
            (ListenPlace{"0.0.0.0", 80, Security::plain}));
  for (const char* text : {"", "4490", ":4490", "localhost:4490", "::1:4490", "1.2.3.4:65536",
                           "1.2.3.4:", "[127.0.0.1]:80", "ftp://1.2.3.4:5"}) {
    EXPECT_FALSE(parse_listen_place(text)) << text;
  }
  for (const char* text : {"127.0.0.1:1", "https://[::1]:4490", "http://0.0.0.0:80"}) {
    EXPECT_EQ(to_string(*parse_listen_place(text)), text);
  }
}

TEST(ServiceSettings, UseTlsOffLoopback) {
  ServiceSettings settings;
  settings.certificate_file = "c";
  settings.key_file = "k";
  EXPECT_FALSE(settings.uses_tls(*parse_listen_place("127.0.0.1:1")));
  EXPECT_TRUE(settings.uses_tls(*parse_listen_place("0.0.0.0:1")));
  EXPECT_TRUE(settings.uses_tls(*parse_listen_place("https://127.0.0.1:1")));
  EXPECT_FALSE(settings.uses_tls(*parse_listen_place("http://0.0.0.0:1")));
}

TEST(ServiceSettings, AreCheckedBeforeAnythingIsOpened) {
  ServiceSettings settings;
  EXPECT_TRUE(validate(settings));
  settings.listen = {*parse_listen_place("https://127.0.0.1:1")};
  EXPECT_FALSE(validate(settings));
  settings.certificate_file = "c";
  EXPECT_FALSE(validate(settings)) << "no key";
  settings.key_file = "k";
  EXPECT_TRUE(validate(settings));
  settings.has_read_peers = true;
  EXPECT_FALSE(validate(settings)) << "no authority";
  settings.authority_file = "a";
  EXPECT_TRUE(validate(settings));
  settings.read_peers = "CN=";
  settings.operate_peers = "nonsense";
  settings.has_operate_peers = true;
  EXPECT_FALSE(validate(settings));
}

TEST(Limits, CanAllBeSetByName) {
  Limits limits;
  for (const auto name : limit_names()) {
    EXPECT_TRUE(set_limit(limits, name, 1000)) << name;
  }
  EXPECT_EQ(limits.connections_max, 1000U);
  EXPECT_EQ(limits.idle_deadline, std::chrono::seconds(1));
  EXPECT_EQ(limits.json_depth_max, 1000U);
  EXPECT_FALSE(set_limit(limits, "connections", 0));
  EXPECT_FALSE(set_limit(limits, "conections", 7));
}

}  // namespace
}  // namespace fdbpack::http
