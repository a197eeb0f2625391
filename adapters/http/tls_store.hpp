// SPDX-License-Identifier: Apache-2.0
//
// The server's certificate, key and authorities, and their renewal without a restart.
//
//   refresh(): read the three files ── as before ──> unchanged
//                                   └─ new, and they fit ──> renewed: new handshakes use them
//                                   └─ new, and they do not ──> an error; the old ones stay
//
// The content is compared, not the time or the inode: a Kubernetes volume that flips its ..data
// link, a rename and an edit in place are all seen, and a touch is not. What was compared is what
// is loaded; nothing is read twice. A pair that does not fit is half of a renewal most times: it is
// reported once, and tried again when the files change. Connections keep what they began with.
#pragma once

#include "fdbpack/base/result.hpp"

#include <boost/asio/ssl/context.hpp>

#include <memory>
#include <optional>
#include <string>

namespace fdbpack::http_server {

struct TlsFiles {
  enum class ClientCertificate { ignored, optional, required };

  std::string certificate_file;  // PEM, with the chain behind it
  std::string key_file;
  std::string key_password;
  std::string authority_file;  // whose clients are known; empty: no client certificate is asked for
  ClientCertificate client_certificate = ClientCertificate::optional;
  // Lets clients in whose certificate does not verify, for rules with Check.Valid=0. The facts
  // that handlers see say so.
  bool accepts_unverified = false;
};

class TlsStore {
 public:
  using Context = boost::asio::ssl::context;
  enum class Outcome { unchanged, renewed };

  // Fails unless the files are there and fit.
  [[nodiscard]] static Result<std::unique_ptr<TlsStore>> load(TlsFiles files);

  [[nodiscard]] Result<Outcome> refresh();
  [[nodiscard]] std::shared_ptr<Context> context() const { return context_; }
  // Why the files that were seen last are not in use; refresh() says it once.
  [[nodiscard]] const std::optional<Error>& problem() const { return problem_; }

 private:
  struct Content {
    std::string certificate, key, authorities;
    bool operator==(const Content&) const = default;
  };

  explicit TlsStore(TlsFiles files) : files_(std::move(files)) {}
  [[nodiscard]] Result<Content> read() const;
  [[nodiscard]] Result<std::shared_ptr<Context>> make(const Content& content) const;

  TlsFiles files_;
  Content seen_;  // the last that was tried, good or bad
  std::shared_ptr<Context> context_;
  std::optional<Error> problem_;
};

}  // namespace fdbpack::http_server
