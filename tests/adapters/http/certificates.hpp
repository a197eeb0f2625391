// SPDX-License-Identifier: Apache-2.0
//
// Authorities and certificates made on the spot.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace fdbpack::support {

struct Certificate {
  std::shared_ptr<X509> certificate;
  std::shared_ptr<EVP_PKEY> key;
  std::string certificate_pem, key_pem;
};

struct CertificateWish {
  std::vector<std::pair<std::string, std::string>> subject;  // {"CN", "x"}
  std::string alt_names;                                     // "DNS:a,IP:127.0.0.1"
  const Certificate* issuer = nullptr;                       // null: signs itself
  bool is_authority = false;
  long seconds_valid = 3600;  // negative: expired
};

inline std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string result(data, static_cast<std::size_t>(size));
  BIO_free(bio);
  return result;
}

inline void add_extension(X509* certificate, const X509* issuer, int nid,
                          const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, const_cast<X509*>(issuer), certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  if (extension == nullptr) throw std::runtime_error("bad extension " + value);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

inline Certificate make_certificate(const CertificateWish& wish) {
  static long serial = 1;
  Certificate result;
  result.key.reset(EVP_EC_gen("P-256"), EVP_PKEY_free);
  result.certificate.reset(X509_new(), X509_free);
  X509* certificate = result.certificate.get();
  const X509* issuer = wish.issuer != nullptr ? wish.issuer->certificate.get() : certificate;
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial++);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -7200);
  X509_gmtime_adj(X509_getm_notAfter(certificate), wish.seconds_valid);
  X509_set_pubkey(certificate, result.key.get());
  for (const auto& [attribute, value] : wish.subject) {
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), attribute.c_str(), MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(value.data()),
                               static_cast<int>(value.size()), -1, 0);
  }
  X509_set_issuer_name(certificate, X509_get_subject_name(issuer));
  add_extension(certificate, issuer, NID_basic_constraints,
                wish.is_authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
  if (!wish.alt_names.empty()) {
    add_extension(certificate, issuer, NID_subject_alt_name, wish.alt_names);
  }
  EVP_PKEY* signer = wish.issuer != nullptr ? wish.issuer->key.get() : result.key.get();
  if (X509_sign(certificate, signer, EVP_sha256()) == 0) throw std::runtime_error("cannot sign");
  BIO* bio = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(bio, certificate);
  result.certificate_pem = text_of(bio);
  bio = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(bio, result.key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  result.key_pem = text_of(bio);
  return result;
}

}  // namespace fdbpack::support
