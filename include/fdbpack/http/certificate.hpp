// SPDX-License-Identifier: Apache-2.0
//
// What rules about certificates look at, without the certificate.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace fdbpack::http {

// Attributes of a distinguished name in their order: {"CN", "db-7"}, {"O", "FDB"}. Only the
// attributes that rules can name: CN C L ST O OU UID DC.
using NameAttributes = std::vector<std::pair<std::string, std::string>>;

struct CertificateFacts {
  NameAttributes subject, issuer;
  NameAttributes root;  // subject of the chain's last certificate; empty when there is no chain
  std::vector<std::pair<std::string, std::string>> subject_alt_names;  // {"DNS", "db-7.example"}
  std::vector<std::pair<std::string, std::string>> issuer_alt_names;
  bool is_chain_valid = false;  // signed by a known authority, fit for its purpose
  bool is_unexpired = false;    // every certificate of the chain, at the time of the handshake
};

// "CN=db-7,O=FDB"
[[nodiscard]] std::string to_string(const NameAttributes& name);

}  // namespace fdbpack::http
