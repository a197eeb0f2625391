// SPDX-License-Identifier: Apache-2.0
//
// FoundationDB's `tls_verify_peers`: which certificates are welcome.
//
//   rules       = alternative { "|" alternative }         one must hold; the sidecar's ";" too
//   alternative = term { "," term }                       all must hold
//   term        = "Check.Valid" "=" ("0" | "1")           0: a chain that does not verify will do
//               | "Check.Unexpired" "=" ("0" | "1")
//               | [scope "."] field ("=" | ">=" | "<=") value       whole, prefix, suffix
//   scope       = "S" | "Subject" | "I" | "Issuer" | "R" | "Root"   default S
//   field       = CN C L ST O OU UID DC | "subjectAltName" (value "DNS:…", "IP:…", "URI:…",
//   "EMAIL:…") value       = RFC 4514: "\," "\|" "\;" "\\" "\2c" …; blanks at its end are dropped
//
// A field that a name carries twice matches nothing, as in FoundationDB: which one was meant? With
// Check.Valid=0 FoundationDB ignores the other terms of all alternatives; here they must still
// hold.
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/http/certificate.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace fdbpack::http {

struct PeerTerm {
  enum class Scope { subject, issuer, root };
  enum class Comparison { whole, prefix, suffix };

  Scope scope = Scope::subject;
  std::string field;  // "CN", "subjectAltName"
  Comparison comparison = Comparison::whole;
  std::string value;

  bool operator==(const PeerTerm&) const = default;
};

struct PeerAlternative {
  bool checks_chain = true;
  bool checks_time = true;
  std::vector<PeerTerm> terms;

  bool operator==(const PeerAlternative&) const = default;
};

class PeerRules {
 public:
  // Rules that every verified certificate passes.
  PeerRules() : alternatives_(1) {}

  // "" is a verified certificate and nothing more. Fails with the place and the reason.
  [[nodiscard]] static Result<PeerRules> parse(std::string_view text);

  [[nodiscard]] bool matches(const CertificateFacts& certificate) const;
  // Whether a certificate that does not verify can pass; a handshake must then let it through.
  [[nodiscard]] bool accepts_unverified() const;
  [[nodiscard]] const std::vector<PeerAlternative>& alternatives() const { return alternatives_; }

 private:
  std::vector<PeerAlternative> alternatives_;
};

}  // namespace fdbpack::http
