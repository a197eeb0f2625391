// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/sidecar/calls.hpp"

#include <gmock/gmock.h>

namespace fdbpack::sidecar {
namespace {

using testing::HasSubstr;

TEST(SidecarCalls, KnowsItsCalls) {
  EXPECT_EQ(parse_call("GET", "/ready").verb, Verb::ready);
  EXPECT_EQ(parse_call("GET", "/substitutions").verb, Verb::substitutions);
  EXPECT_EQ(parse_call("POST", "/copy_files").verb, Verb::copy_files);
  EXPECT_EQ(parse_call("POST", "/copy_binaries").verb, Verb::copy_binaries);
  EXPECT_EQ(parse_call("POST", "/copy_libraries").verb, Verb::copy_libraries);
  EXPECT_EQ(parse_call("POST", "/copy_monitor_conf").verb, Verb::copy_monitor_conf);
  EXPECT_EQ(parse_call("POST", "/refresh_certs").verb, Verb::refresh_certs);
  EXPECT_EQ(parse_call("POST", "/restart").verb, Verb::restart);
  for (const char* target : {"/", "", "*", "/ready/", "/ready?x", "/READY", "/check_hash",
                             "/is_present", "/check_hashx/y", "http://h/ready", "/copy_files"}) {
    EXPECT_EQ(parse_call("GET", target).verb, Verb::unknown_path) << target;
  }
  EXPECT_EQ(parse_call("POST", "/ready").verb, Verb::unknown_path);
  for (const char* method : {"HEAD", "PUT", "DELETE", "OPTIONS", "get", ""}) {
    EXPECT_EQ(parse_call(method, "/ready").verb, Verb::unknown_method) << method;
  }
}

struct PathCase {
  std::string target, path;
  bool leads_out;
};

// What Python's os.path.relpath(target, "/check_hash") gives.
TEST(SidecarCalls, ReadsPathsAsSidecarPyDoes) {
  const std::vector<PathCase> cases = {
      {"/check_hash/fdb.cluster", "fdb.cluster", false},
      {"/check_hash/bin/7.1.43/fdbserver", "bin/7.1.43/fdbserver", false},
      {"/check_hash//etc/passwd", "etc/passwd", false},
      {"/check_hash/a/./b//c/", "a/b/c", false},
      {"/check_hash/a/../b", "b", false},
      {"/check_hash/", ".", false},
      {"/check_hash/.", ".", false},
      {"/check_hash/../check_hash/x", "x", false},
      {"/check_hash/%2e%2e/x", "%2e%2e/x", false},
      {"/check_hash/..%2fx", "..%2fx", false},
      {"/check_hash/x?y=../z", "x?y=../z", false},
      {"/check_hash/..", "..", true},
      {"/check_hash/../x", "../x", true},
      {"/check_hash/../../etc/hostname", "../etc/hostname", true},
      {"/check_hash/../../../../etc/shadow", "../etc/shadow", true},
      {"/check_hash/a/../../x", "../x", true},
  };
  for (const auto& [target, path, leads_out] : cases) {
    const Call call = parse_call("GET", target);
    EXPECT_EQ(call.verb, Verb::check_hash) << target;
    EXPECT_EQ(call.path, path) << target;
    EXPECT_EQ(call.leads_out, leads_out) << target;
  }
  EXPECT_EQ(parse_call("GET", "/is_present/../x").path, "../x");
}

TEST(SidecarCalls, ErrorsAreEscaped) {
  const auto page = error_page(404, "<script>&\"x\" not found");
  EXPECT_EQ(page.status, 404);
  EXPECT_EQ(page.content_type, "text/html;charset=utf-8");
  EXPECT_THAT(page.body, HasSubstr("<p>Message: &lt;script&gt;&amp;\"x\" not found.</p>"));
  EXPECT_EQ(page.reason_phrase, "<script>&\"x\" not found");
}

TEST(SidecarCalls, WhatIsOutsideIsAnsweredLikeTheRelease) {
  const Call call = parse_call("GET", "/check_hash/../x");
  EXPECT_EQ(outside_answer(call, "/out", Dialect::before_7_4).status, 404);
  const auto page = outside_answer(call, "/out", Dialect::since_7_4);
  EXPECT_EQ(page.status, 403);
  EXPECT_THAT(page.reason_phrase, HasSubstr("is outside of the allowed directory /out"));
}

std::optional<TlsSettings> rules(const std::string& text) {
  TlsSettings tls;
  tls.rules = *http::PeerRules::parse(text);
  return tls;
}

http::Peer verified_peer() {
  http::CertificateFacts facts;
  facts.subject = {{"CN", "db-7"}, {"O", "FDB"}};
  facts.root = {{"CN", "TestCA"}};
  facts.subject_alt_names = {{"IP", "127.0.0.1"}, {"EMAIL", "a@b"}};
  facts.is_chain_valid = facts.is_unexpired = true;
  http::Peer peer;
  peer.certificate = facts;
  return peer;
}

TEST(SidecarCalls, OnlyReadyIsForStrangers) {
  const http::Peer stranger;
  const Call ready = parse_call("GET", "/ready");
  const Call other = parse_call("GET", "/substitutions");
  EXPECT_TRUE(is_approved(ready, stranger, rules("")));
  EXPECT_FALSE(is_approved(other, stranger, rules("")));
  EXPECT_FALSE(is_approved(parse_call("GET", "/foo"), stranger, rules("")));
  EXPECT_TRUE(is_approved(other, stranger, std::nullopt));  // without TLS
  EXPECT_TRUE(is_approved(other, verified_peer(), rules("")));
}

TEST(SidecarCalls, RulesMeanWhatTheyMeanToSidecarPy) {
  const Call call = parse_call("POST", "/copy_files");
  const auto peer = verified_peer();
  EXPECT_TRUE(is_approved(call, peer, rules("CN=x;O=FDB")));
  EXPECT_TRUE(is_approved(call, peer, rules("CN=x|O=FDB")));
  EXPECT_FALSE(is_approved(call, peer, rules("CN=db-7,O=x")));
  EXPECT_FALSE(is_approved(call, peer, rules("R.CN=TestCA")));
  EXPECT_TRUE(is_approved(call, peer, rules("subjectAltName=IP Address:127.0.0.1")));
  EXPECT_TRUE(is_approved(call, peer, rules("subjectAltName=email:a@b")));
}

TEST(SidecarCalls, ACertificateThatDoesNotVerifyIsWelcomeNowhere) {
  const Call call = parse_call("POST", "/copy_files");
  auto peer = verified_peer();
  peer.certificate->is_chain_valid = false;
  EXPECT_FALSE(is_approved(call, peer, rules("")));
  EXPECT_FALSE(is_approved(call, peer, rules("Check.Valid=0")));
  peer = verified_peer();
  peer.certificate->is_unexpired = false;
  EXPECT_FALSE(is_approved(call, peer, rules("Check.Unexpired=0")));
}

}  // namespace
}  // namespace fdbpack::sidecar
