// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/model/address.hpp"

#include "fdbpack/model/ip.hpp"
#include "tests/support/random_model.hpp"
#include "tests/support/seeds.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace fdbpack::model {
namespace {

std::string canonical(std::string_view text) {
  const auto ip = parse_ip(text);
  return ip ? to_string(*ip) : "refused";
}

TEST(Ip, PrintsTheShortestForm) {
  const std::pair<const char*, const char*> cases[] = {
      {"10.0.0.7", "10.0.0.7"},
      {"255.255.255.255", "255.255.255.255"},
      {"::", "::"},
      {"::1", "::1"},
      {"0100::2", "100::2"},
      {"2001:DB8:0:0:0:0:0:1", "2001:db8::1"},
      {"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
      {"2001:0:0:1:0:0:0:1", "2001:0:0:1::1"},
      {"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
      {"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"},
      {"fe80::", "fe80::"},
      {"::ffff:1.2.3.4", "::ffff:1.2.3.4"},
      {"64:ff9b::1.2.3.4", "64:ff9b::102:304"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_EQ(canonical(text), expected) << text;
}

TEST(Ip, RefusesWhatIsNoAddress) {
  for (const auto* text : {"", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.-4",
                           "1.2.3.4 ", ":", ":::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9",
                           "1:2:3:4:5:6:7:8::", "12345::", "::g", "::1.2.3",
                           "1.2.3.4::", "fe80::1%eth0", "1:2:3:4:5:6:7:1.2.3.4"}) {
    EXPECT_EQ(canonical(text), "refused") << text;
  }
}

TEST(Address, IsReadInEveryForm) {
  struct Case {
    const char* text;
    Address expected;
  };
  const Case cases[] = {
      {"10.0.0.7:4501", {"10.0.0.7", 4501, false, false}},
      {"10.0.0.7:4500:tls", {"10.0.0.7", 4500, true, false}},
      {"[::1]:4500:tls", {"::1", 4500, true, false}},
      {"[0100::2]:4500", {"100::2", 4500, false, false}},
      {"::1", {"::1", 0, false, false}},
      {"[::1]", {"::1", 0, false, false}},
      {"::1:4500", {"::1:4500", 0, false, false}},
      {"[10.0.0.7]:4500", {"10.0.0.7", 4500, false, false}},
      {"db_7.example.org:4501", {"db_7.example.org", 4501, false, false}},
      {"$POD_IP:4500", {"$POD_IP", 4500, false, false}},
      {"[$FDB_PUBLIC_IP]:4500:tls", {"$FDB_PUBLIC_IP", 4500, true, false}},
      {"10.0.0.7:65535(fromHostname)", {"10.0.0.7", 65535, false, true}},
  };
  for (const auto& [text, expected] : cases) {
    const auto address = parse_address(text);
    ASSERT_TRUE(address) << text << ": " << address.error().message;
    EXPECT_EQ(*address, expected) << text;
  }
}

TEST(Address, RefusesWhatIsNone) {
  for (const auto* text : {"",
                           "(fromHostname)",
                           ":4500",
                           "10.0.0.7:",
                           "10.0.0.7:0",
                           "10.0.0.7:65536",
                           "10.0.0.7:04500",
                           "10.0.0.7:bad",
                           "10.0.0.7:tls",
                           "10.0.0.7:4500:TLS",
                           "10.0.0.7:4500:tls:tls",
                           "10.0.0.300:4500",
                           "[::1",
                           "[::1]4500",
                           "[]:4500",
                           "$:4500",
                           "$1:4500",
                           "a b:4500",
                           "-a:4500",
                           "a..b:4500",
                           "10.0.0.7:4500 ",
                           "a:4500,b:4500"}) {
    EXPECT_FALSE(parse_address(text)) << text;
  }
}

TEST(Address, SaysWhatIsWrong) {
  EXPECT_EQ(parse_address("10.0.0.7:0").error().message,
            "\"10.0.0.7:0\" is not an address: the port must be a number from 1 to 65535");
}

TEST(Address, CanHaveBracketsAroundEveryHost) {
  const Address address{"$FDB_PUBLIC_IP", 4501, false, false};
  EXPECT_EQ(to_string(address), "$FDB_PUBLIC_IP:4501");
  EXPECT_EQ(to_string(address, Brackets::always), "[$FDB_PUBLIC_IP]:4501");
}

TEST(Address, ListsHaveCommasBetweenThem) {
  const auto list = parse_addresses("[::1]:4500:tls,[::1]:4501");
  ASSERT_TRUE(list);
  ASSERT_EQ(list->size(), 2u);
  EXPECT_TRUE(list->front().tls);
  EXPECT_EQ(to_string(*list), "[::1]:4500:tls,[::1]:4501");
  EXPECT_FALSE(parse_addresses("10.0.0.7:4500,"));
  EXPECT_FALSE(parse_addresses(""));
}

TEST(Address, WhatIsPrintedIsReadBack) {
  for (const auto seed : support::seeds(3000)) {
    FDBPACK_TRACE_SEED(seed);
    Random random(seed);
    const Address address = support::random_address(random);
    for (const auto brackets : {Brackets::around_ipv6, Brackets::always}) {
      const auto again = parse_address(to_string(address, brackets));
      ASSERT_TRUE(again) << again.error().message;
      ASSERT_EQ(*again, address);
    }
  }
}

}  // namespace
}  // namespace fdbpack::model
