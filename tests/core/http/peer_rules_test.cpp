// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/http/peer_rules.hpp"

#include "fdbpack/base/random.hpp"
#include "tests/support/seeds.hpp"

#include <gtest/gtest.h>

namespace fdbpack::http {
namespace {

CertificateFacts certificate() {
  CertificateFacts facts;
  facts.subject = {{"CN", "db-7.example"}, {"O", "FDB, Inc|x"}, {"OU", "a"}, {"OU", "b"}};
  facts.issuer = {{"CN", "Issuing CA"}, {"O", "Org"}};
  facts.root = {{"CN", "Root CA"}, {"C", "SE"}};
  facts.subject_alt_names = {{"DNS", "db-7.example"}, {"IP", "10.0.0.7"}, {"URI", "spiffe://a/b"}};
  facts.issuer_alt_names = {{"EMAIL", "ca@example"}};
  facts.is_chain_valid = facts.is_unexpired = true;
  return facts;
}

TEST(PeerRules, MatchCertificates) {
  const struct {
    const char* rules;
    bool matches;
  } cases[] = {
      {"", true},
      {"Check.Valid=1", true},
      {"CN=db-7.example", true},
      {"CN=db-7", false},
      {"S.CN>=db-", true},
      {"Subject.CN<=.example", true},
      {"CN>=example", false},
      {"CN<=db", false},
      {"cn=db-7.example,I.CN=x|I.CN=Issuing CA", true},
      {"O=FDB\\, Inc\\|x", true},
      {"O=FDB\\2c Inc\\7Cx", true},
      {"O>=FDB   ", true},
      {"O>=FDB\\ ", false},
      {"OU=a", false},  // there are two
      {"UID=a", false},
      {"I.CN=Issuing CA,I.O=Org", true},
      {"Issuer.O<=rg,Root.C=SE", true},
      {"R.CN=Root CA", true},
      {"R.CN=Issuing CA", false},
      {"S.subjectAltName=DNS:db-7.example", true},
      {"S.subjectAltName>=DNS:db", true},
      {"S.subjectAltName<=DNS:example", true},
      {"subjectAltName=IP:10.0.0.7", true},
      {"subjectAltName=URI:spiffe://a/b", true},
      {"subjectAltName=DNS:10.0.0.7", false},
      {"I.subjectAltName=EMAIL:ca@example", true},
      {"R.subjectAltName=DNS:db-7.example", false},
      {"CN=a|CN=b", false},
      {"CN=a;CN=db-7.example", true},
      {"CN=a,CN=db-7.example", false},
  };
  for (const auto& one : cases) {
    if (std::string_view(one.rules).starts_with("cn=")) {
      EXPECT_FALSE(PeerRules::parse(one.rules)) << "fields have one spelling";
      continue;
    }
    const auto rules = PeerRules::parse(one.rules);
    ASSERT_TRUE(rules) << one.rules << ": " << rules.error().message;
    EXPECT_EQ(rules->matches(certificate()), one.matches) << one.rules;
  }
}

TEST(PeerRules, LookAtTheChainUnlessToldOtherwise) {
  const struct {
    const char* rules;
    bool chain, time, matches;
  } cases[] = {
      {"", false, true, false},
      {"", true, false, false},
      {"CN=db-7.example", false, true, false},
      {"Check.Valid=0", false, false, true},
      {"Check.Valid=0,CN=other", false, false, false},
      {"CN=other|Check.Valid=0", false, true, true},
      {"Check.Unexpired=0", true, false, true},
      {"Check.Unexpired=0", false, true, false},
      {"Check.Unexpired=1,CN>=db", true, false, false},
  };
  for (const auto& one : cases) {
    CertificateFacts facts = certificate();
    facts.is_chain_valid = one.chain;
    facts.is_unexpired = one.time;
    const auto rules = PeerRules::parse(one.rules);
    ASSERT_TRUE(rules) << one.rules;
    EXPECT_EQ(rules->matches(facts), one.matches) << one.rules;
  }
  EXPECT_FALSE(PeerRules().matches(CertificateFacts()));
  EXPECT_FALSE(PeerRules().accepts_unverified());
  EXPECT_TRUE(PeerRules::parse("CN=a|Check.Valid=0")->accepts_unverified());
}

TEST(PeerRules, AreRefusedWithPlaceAndReason) {
  const struct {
    const char* rules;
    const char* message;
  } cases[] = {
      {"CN", "character 1: a rule is FIELD=value"},
      {"CN=", "character 4: a value is missing"},
      {"CN=a,", "character 6: a rule is missing after the comma"},
      {"|CN=a", "character 1: a rule is missing"},
      {"CN=a|", "character 6: a rule is missing"},
      {"CN=a||O=b", "character 6: a rule is missing"},
      {"CN=a,|O=b", "a rule is missing"},
      {"XX=a", "there is no field 'XX'"},
      {"Q.CN=a", "there is no scope 'Q'"},
      {"Check.Valid=2", "a check is 0 or 1"},
      {"Check.Valid=01", "a check is 0 or 1"},
      {"Check.Valid>=1", "Check.Valid=0|1"},
      {"Check.Fancy=1", "Check.Valid=0|1"},
      {"CN=a\\", "the backslash escapes nothing"},
      {"CN=a\\zz", "two hexadecimal digits"},
      {"CN=a+b", "needs a backslash"},
      {"CN=#a", "needs a backslash"},
      {"CN= a", "needs a backslash"},
      {"subjectAltName=db-7", "TYPE:value"},
  };
  for (const auto& one : cases) {
    const auto rules = PeerRules::parse(one.rules);
    ASSERT_FALSE(rules) << one.rules;
    EXPECT_NE(rules.error().message.find(one.message), std::string::npos)
        << one.rules << ": " << rules.error().message;
  }
}

// A value of any bytes, escaped, matches itself and nothing else that is near it.
TEST(PeerRules, EscapedValuesMatchThemselves) {
  for (const auto seed : support::seeds(300)) {
    FDBPACK_TRACE_SEED(seed);
    Random random(seed);
    std::string value, escaped;
    for (auto left = random.between(1, 12); left > 0; --left) {
      const char c = static_cast<char>(random.between(1, 127));
      value += c;
      constexpr std::string_view kHex = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      escaped += std::string("\\") + kHex[byte >> 4] + kHex[byte & 15];
    }
    CertificateFacts facts = certificate();
    facts.subject = {{"CN", value}};
    const auto rules = PeerRules::parse("I.O=Nobody|CN=" + escaped);
    ASSERT_TRUE(rules) << rules.error().message;
    EXPECT_TRUE(rules->matches(facts));
    facts.subject[0].second += 'x';
    EXPECT_FALSE(rules->matches(facts));
  }
}

}  // namespace
}  // namespace fdbpack::http
