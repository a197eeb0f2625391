// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/http/access.hpp"

#include <gtest/gtest.h>

namespace fdbpack::http {
namespace {

AccessPolicy policy() {
  AccessPolicy result;
  result.operator_uids = {0};
  result.operator_gids = {77};
  result.read_rules = *PeerRules::parse("O=FDB");
  result.operate_rules = *PeerRules::parse("CN=ops");
  result.read_tokens = {"read-token-0123456789"};
  result.operate_tokens = {"operate-token-0123456789"};
  return result;
}

Request from(Peer peer, const std::string& authorization = "") {
  Request request;
  request.peer = std::move(peer);
  if (!authorization.empty()) request.headers.add("Authorization", authorization);
  return request;
}

Peer unix_peer(std::uint32_t uid, std::uint32_t gid) {
  Peer peer;
  peer.credentials = UnixCredentials{17, uid, gid, {}};
  return peer;
}

Peer tcp_peer(const std::string& address, bool is_loopback) {
  Peer peer;
  peer.address = address;
  peer.port = 4711;
  peer.is_loopback = is_loopback;
  return peer;
}

Peer over_tls(Peer peer) {
  peer.is_tls = true;
  return peer;
}

Peer in_groups(Peer peer, std::vector<std::uint32_t> groups) {
  peer.credentials->groups = std::move(groups);
  return peer;
}

Peer certified(NameAttributes subject, bool is_valid = true) {
  Peer peer = tcp_peer("10.0.0.7", false);
  peer.certificate = CertificateFacts{std::move(subject), {}, {}, {}, {}, is_valid, is_valid};
  return peer;
}

TEST(Access, FollowsTheTableOfItsHeader) {
  const struct {
    Request request;
    Access granted;
    const char* by;
  } cases[] = {
      {from(unix_peer(0, 5)), Access::operate, "unix uid 0"},
      {from(unix_peer(5, 77)), Access::operate, "unix uid 5"},
      {from(unix_peer(5, 5)), Access::read, "unix uid 5"},
      {from(tcp_peer("127.0.0.1", true)), Access::read, "loopback"},
      {from(tcp_peer("10.0.0.7", false)), Access::probe, "nothing"},
      {from(certified({{"CN", "x"}, {"O", "FDB"}})), Access::read, "certificate CN=x,O=FDB"},
      {from(certified({{"CN", "ops"}})), Access::operate, "certificate CN=ops"},
      {from(certified({{"CN", "ops"}}, false)), Access::probe, "nothing"},
      {from(certified({{"CN", "other"}})), Access::probe, "nothing"},
      {from(over_tls(tcp_peer("10.0.0.7", false)), "Bearer read-token-0123456789"), Access::read,
       "bearer token"},
      {from(tcp_peer("10.0.0.7", false), "Bearer read-token-0123456789"), Access::probe, "nothing"},
      {from(in_groups(unix_peer(5, 5), {6, 77})), Access::operate, "unix uid 5"},
      {from(in_groups(unix_peer(5, 5), {6, 7})), Access::read, "unix uid 5"},
      {from(tcp_peer("127.0.0.1", true), "bearer  operate-token-0123456789 "), Access::operate,
       "bearer token"},
  };
  for (const auto& one : cases) {
    const AccessDecision decision = decide_access(one.request, policy());
    EXPECT_EQ(decision.granted, one.granted) << one.by;
    EXPECT_EQ(decision.by, one.by);
    EXPECT_FALSE(decision.is_token_wrong);
  }
}

TEST(Access, GivesNothingForAWrongToken) {
  for (const auto* wrong : {"Bearer read-token-012345678", "Bearer ", "Bearer", "Basic eDp5",
                            "Bearer read-token-01234567890", "read-token-0123456789"}) {
    const AccessDecision decision = decide_access(from(unix_peer(0, 0), wrong), policy());
    EXPECT_EQ(decision.granted, Access::probe) << wrong;
    EXPECT_TRUE(decision.is_token_wrong) << wrong;
  }
}

TEST(Access, NeedsRulesBeforeACertificateCounts) {
  EXPECT_EQ(decide_access(from(certified({{"CN", "ops"}})), AccessPolicy()).granted, Access::probe);
}

TEST(Access, CanRefuseLoopback) {
  AccessPolicy strict;
  strict.is_loopback_trusted_to_read = false;
  EXPECT_EQ(decide_access(from(tcp_peer("::1", true)), strict).granted, Access::probe);
}

TEST(Tokens, CompareAsTheyAre) {
  EXPECT_TRUE(equal_in_constant_time("", ""));
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abc", "abd"));
  EXPECT_FALSE(equal_in_constant_time("abc", "ab"));
  EXPECT_FALSE(equal_in_constant_time("abc", ""));
  EXPECT_FALSE(equal_in_constant_time("", "abc"));
  EXPECT_FALSE(equal_in_constant_time("ab", "abab"));
}

TEST(Tokens, ComeFromAFile) {
  const auto tokens = parse_tokens("# who: ops\n  0123456789abcdef \r\n\nfedcba9876543210");
  ASSERT_TRUE(tokens) << tokens.error().message;
  EXPECT_EQ(*tokens, (std::vector<std::string>{"0123456789abcdef", "fedcba9876543210"}));
  const auto weak = parse_tokens("0123456789abcdef\nshort\n");
  ASSERT_FALSE(weak);
  EXPECT_NE(weak.error().message.find("line 2"), std::string::npos);
  EXPECT_EQ(weak.error().message.find("short"), std::string::npos);  // never shown
  EXPECT_FALSE(parse_tokens("0123456789 abcdef"));
}

TEST(Peer, IsDescribedForTheAudit) {
  EXPECT_EQ(describe(tcp_peer("127.0.0.1", true)), "127.0.0.1:4711");
  EXPECT_EQ(describe(tcp_peer("fd00::7", false)), "[fd00::7]:4711");
  EXPECT_EQ(describe(unix_peer(5, 6)), "unix uid=5 pid=17");
  EXPECT_EQ(describe(certified({{"CN", "ops"}})), "10.0.0.7:4711 (CN=ops)");
}

}  // namespace
}  // namespace fdbpack::http
