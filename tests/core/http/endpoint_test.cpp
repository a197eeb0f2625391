// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/http/endpoint.hpp"

#include <gtest/gtest.h>

namespace fdbpack::http {
namespace {

struct Case {
  std::string url, shown, host;
};

TEST(Endpoint, IsReadAndShown) {
  const Case cases[] = {
      {"http://db-1:2379", "http://db-1:2379", "db-1:2379"},
      {"https://db-1/", "https://db-1:443", "db-1"},
      {"http://127.0.0.1", "http://127.0.0.1:80", "127.0.0.1"},
      {"https://[::1]:4480", "https://[::1]:4480", "[::1]:4480"},
      {"unix:///run/x.sock", "unix:///run/x.sock", "localhost"},
  };
  for (const auto& one : cases) {
    const auto endpoint = parse_endpoint(one.url);
    ASSERT_TRUE(endpoint) << one.url;
    EXPECT_EQ(to_string(*endpoint), one.shown);
    EXPECT_EQ(host_field(*endpoint), one.host);
  }
  EXPECT_EQ(parse_endpoint("https://[fd00::7]")->host, "fd00::7");
}

TEST(Endpoint, RefusesWhatIsNoEndpointAndNamesIt) {
  for (const std::string url :
       {"", "db-1:2379", "ftp://x", "http://", "http://:80", "http://x:0", "http://x:65536",
        "http://x:", "http://x:y", "http://x/path", "http://u@x", "http://[::1", "http://[::1]80",
        "unix://run/x", "http://a b"}) {
    const auto endpoint = parse_endpoint(url);
    ASSERT_FALSE(endpoint) << url;
    EXPECT_NE(endpoint.error().message.find("'" + url + "'"), std::string::npos);
  }
}

}  // namespace
}  // namespace fdbpack::http
