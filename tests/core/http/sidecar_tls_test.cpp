// SPDX-License-Identifier: Apache-2.0
//
// The Python sidecar's decisions about client certificates. Its one limitation, that R. never
// matches, is not ours: that case says so itself, and the facts here hold no root for it.
#include "fdbpack/base/text.hpp"
#include "fdbpack/http/peer_rules.hpp"
#include "tests/support/goldens.hpp"

#include <gtest/gtest.h>

namespace fdbpack::http {
namespace {

NameAttributes name_of(const std::string& text) {
  NameAttributes result;
  for (const std::string_view part : text::split(text, ',')) {
    const auto equals = part.find('=');
    result.emplace_back(part.substr(0, equals), part.substr(equals + 1));
  }
  return result;
}

TEST(PeerRulesGolden, AgreeWithTheSidecar) {
  FDBPACK_GOLDENS_OR_SKIP(folder, "monitor/sidecar_tls");
  int checked = 0;
  for (const auto& golden : support::golden_cases(folder)) {
    const auto& setup = golden.json["setup"];
    const bool is_welcome = golden.json["expected"]["status"] == 200;
    const auto text = setup["tls_verify_peers"].is_null()
                          ? std::string()
                          : setup["tls_verify_peers"].get<std::string>();
    const auto rules = PeerRules::parse(text);
    ASSERT_TRUE(rules) << golden.name << ": " << rules.error().message;
    ++checked;
    if (setup["client_cert"].is_null()) {
      EXPECT_FALSE(is_welcome) << golden.name;
      continue;
    }
    CertificateFacts facts;
    facts.subject = name_of(setup["client_cert"]["subject"]);
    facts.issuer = name_of(setup["client_cert"]["issuer"]);
    for (const std::string san : setup["client_cert"]["subjectAltName"]) {
      facts.subject_alt_names.emplace_back(san.substr(0, san.find(':')),
                                           san.substr(san.find(':') + 1));
    }
    facts.is_chain_valid = facts.is_unexpired = true;
    EXPECT_EQ(rules->matches(facts), is_welcome) << golden.name << ": " << text;
  }
  EXPECT_GE(checked, 7);
}

}  // namespace
}  // namespace fdbpack::http
