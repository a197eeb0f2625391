// SPDX-License-Identifier: Apache-2.0
#include "adapters/http/certificate_facts.hpp"

#include <openssl/x509v3.h>

#include <arpa/inet.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace fdbpack::http_server {
namespace {

// What note_verification() found, as bits that travel with a connection.
constexpr std::intptr_t kBadChain = 1;
constexpr std::intptr_t kBadTime = 2;

bool is_about_time(int error) {
  return error == X509_V_ERR_CERT_HAS_EXPIRED || error == X509_V_ERR_CERT_NOT_YET_VALID;
}

// Asio keeps something of its own in the application data, so the notes have their own place.
int notes_index() {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

std::intptr_t notes_of(const SSL* tls) {
  return reinterpret_cast<std::intptr_t>(SSL_get_ex_data(tls, notes_index()));
}

std::string utf8_of(const ASN1_STRING* text) {
  unsigned char* bytes = nullptr;
  const int size = ASN1_STRING_to_UTF8(&bytes, text);
  if (size < 0) return {};
  std::string result(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  OPENSSL_free(bytes);
  return result;
}

http::NameAttributes attributes_of(const X509_NAME* name) {
  constexpr std::array<std::pair<int, const char*>, 8> kKnown{{{NID_commonName, "CN"},
                                                               {NID_countryName, "C"},
                                                               {NID_localityName, "L"},
                                                               {NID_stateOrProvinceName, "ST"},
                                                               {NID_organizationName, "O"},
                                                               {NID_organizationalUnitName, "OU"},
                                                               {NID_userId, "UID"},
                                                               {NID_domainComponent, "DC"}}};
  http::NameAttributes result;
  for (int i = 0; i < X509_NAME_entry_count(name); ++i) {
    const X509_NAME_ENTRY* entry = X509_NAME_get_entry(name, i);
    const int nid = OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry));
    for (const auto& [known, text] : kKnown) {
      if (nid == known) result.emplace_back(text, utf8_of(X509_NAME_ENTRY_get_data(entry)));
    }
  }
  return result;
}

std::string address_of(const ASN1_OCTET_STRING* bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int size = ASN1_STRING_length(bytes);
  const int family = size == 4 ? AF_INET : size == 16 ? AF_INET6 : AF_UNSPEC;
  if (family == AF_UNSPEC) return {};
  if (::inet_ntop(family, ASN1_STRING_get0_data(bytes), text.data(), text.size()) == nullptr) {
    return {};
  }
  return text.data();
}

std::vector<std::pair<std::string, std::string>> alt_names_of(const X509* certificate, int nid) {
  std::vector<std::pair<std::string, std::string>> result;
  auto* names = static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, nid, nullptr, nullptr));
  if (names == nullptr) return result;
  for (int i = 0; i < sk_GENERAL_NAME_num(names); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names, i);
    if (name->type == GEN_DNS) result.emplace_back("DNS", utf8_of(name->d.dNSName));
    if (name->type == GEN_EMAIL) result.emplace_back("EMAIL", utf8_of(name->d.rfc822Name));
    if (name->type == GEN_URI) {
      result.emplace_back("URI", utf8_of(name->d.uniformResourceIdentifier));
    }
    if (name->type == GEN_IPADD) result.emplace_back("IP", address_of(name->d.iPAddress));
  }
  GENERAL_NAMES_free(names);
  return result;
}

}  // namespace

int note_verification(int is_good, X509_STORE_CTX* store) {
  if (is_good == 1) return 1;
  auto* tls =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  const bool is_time = is_about_time(X509_STORE_CTX_get_error(store));
  const std::intptr_t notes = notes_of(tls) | (is_time ? kBadTime : kBadChain);
  SSL_set_ex_data(tls, notes_index(), reinterpret_cast<void*>(notes));
  return 1;
}

std::optional<http::CertificateFacts> facts_of_peer(SSL* tls) {
  const X509* certificate = SSL_get0_peer_certificate(tls);
  if (certificate == nullptr) return std::nullopt;
  http::CertificateFacts facts;
  facts.subject = attributes_of(X509_get_subject_name(certificate));
  facts.issuer = attributes_of(X509_get_issuer_name(certificate));
  facts.subject_alt_names = alt_names_of(certificate, NID_subject_alt_name);
  facts.issuer_alt_names = alt_names_of(certificate, NID_issuer_alt_name);
  const std::intptr_t notes = notes_of(tls);
  const bool is_verified = SSL_get_verify_result(tls) == X509_V_OK;
  facts.is_unexpired = (notes & kBadTime) == 0 && (is_verified || (notes & kBadChain) != 0);
  facts.is_chain_valid = (notes & kBadChain) == 0 && (is_verified || (notes & kBadTime) != 0);
  const STACK_OF(X509)* chain = SSL_get0_verified_chain(tls);
  if (facts.is_chain_valid && chain != nullptr && sk_X509_num(chain) > 0) {
    facts.root = attributes_of(X509_get_subject_name(sk_X509_value(chain, sk_X509_num(chain) - 1)));
  }
  return facts;
}

}  // namespace fdbpack::http_server
