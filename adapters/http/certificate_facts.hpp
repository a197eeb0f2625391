// SPDX-License-Identifier: Apache-2.0
//
// What rules may ask about the certificate that a client showed.
#pragma once

#include "fdbpack/http/certificate.hpp"

#include <openssl/ssl.h>

#include <optional>

namespace fdbpack::http_server {

// Notes what is wrong with a chain and lets the handshake go on; the rules decide later.
// For SSL_CTX_set_verify() with rules that accept certificates which do not verify.
int note_verification(int is_good, X509_STORE_CTX* store);

// Nothing when the client showed none. After the handshake.
[[nodiscard]] std::optional<http::CertificateFacts> facts_of_peer(SSL* tls);

}  // namespace fdbpack::http_server
