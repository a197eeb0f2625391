// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/http/guard.hpp"

#include <gtest/gtest.h>

namespace fdbpack::http {
namespace {

TEST(Host, IsAnAddressOrAKnownName) {
  const std::vector<std::string> names = {"db-7"};
  for (const char* host : {"localhost", "LOCALHOST:4490", "127.0.0.1", "127.0.0.1:4490", "[::1]",
                           "[::1]:80", "10.0.0.7:4490", "db-7", "DB-7:4490", "localhost."}) {
    EXPECT_TRUE(is_host_ours(host, names)) << host;
  }
  for (const char* host : {"evil.example", "evil.example:4490", "localhost.evil.example", "",
                           "127.0.0.1.evil.example", "[evil]", "db-8", "1.2.3", "[::1"}) {
    EXPECT_FALSE(is_host_ours(host, names)) << host;
  }
}

TEST(Origin, IsLookedAtOnLoopbackAndForChanges) {
  Request request;
  request.method = Method::get;
  request.peer.is_loopback = true;
  request.headers.add("Host", "evil.example");
  EXPECT_NE(refusal_of_origin(request, {}), "");
  request.peer.credentials = UnixCredentials{};
  EXPECT_EQ(refusal_of_origin(request, {}), "");
  request.headers.add("Origin", "http://evil.example");
  EXPECT_EQ(refusal_of_origin(request, {}), "");
  request.method = Method::post;
  EXPECT_NE(refusal_of_origin(request, {}), "");
}

TEST(FailureLimit, MakesAGuesserWaitAndNobodyElse) {
  FailureLimit limit;
  const Instant start{std::chrono::hours(1)};
  for (unsigned i = 0; i < FailureLimit::kFailuresMax; ++i) {
    EXPECT_EQ(limit.wait("a", start), Duration::zero());
    limit.note_failure("a", start);
  }
  EXPECT_EQ(limit.wait("a", start), Duration(FailureLimit::kWindow));
  EXPECT_EQ(limit.wait("b", start), Duration::zero());
  EXPECT_EQ(limit.wait("a", start + FailureLimit::kWindow), Duration::zero());
  limit.note_failure("a", start + FailureLimit::kWindow);
  EXPECT_EQ(limit.wait("a", start + FailureLimit::kWindow), Duration::zero());
}

TEST(FailureLimit, RemembersABoundedNumberOfPeers) {
  FailureLimit limit;
  Instant now{std::chrono::hours(1)};
  for (unsigned i = 0; i < FailureLimit::kFailuresMax; ++i)
    limit.note_failure("first", now);
  for (std::size_t i = 0; i < FailureLimit::kPeersMax; ++i) {
    now += std::chrono::milliseconds(1);
    limit.note_failure("peer " + std::to_string(i), now);
  }
  EXPECT_EQ(limit.wait("first", now), Duration::zero()) << "the oldest made room";
}

}  // namespace
}  // namespace fdbpack::http
