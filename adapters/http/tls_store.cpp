// SPDX-License-Identifier: Apache-2.0
#include "adapters/http/tls_store.hpp"

#include "adapters/http/certificate_facts.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/system/system_error.hpp>
#include <openssl/ssl.h>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace fdbpack::http_server {
namespace {

namespace ssl = boost::asio::ssl;
constexpr std::size_t kFileSizeMax = 1024 * 1024;

Result<std::string> read_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    return fail(ErrorCode::unavailable, "opening " + path + ": " + std::strerror(errno));
  }
  std::string result;
  std::array<char, 16 * 1024> buffer;
  ssize_t count = 0;
  while ((count = ::read(fd, buffer.data(), buffer.size())) > 0 && result.size() <= kFileSizeMax) {
    result.append(buffer.data(), static_cast<std::size_t>(count));
  }
  const int error = errno;
  ::close(fd);
  if (count < 0) {
    return fail(ErrorCode::unavailable, "reading " + path + ": " + std::strerror(error));
  }
  if (result.size() > kFileSizeMax) {
    return fail(ErrorCode::invalid_argument, path + " is too large for a certificate or key");
  }
  return result;
}

void set_manners(SSL_CTX* context) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  // No tickets and no cache: a resumed session would outlive the authority that was taken away.
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
}

void ask_for_certificates(SSL_CTX* context, const TlsFiles& files) {
  using Wanted = TlsFiles::ClientCertificate;
  int mode = SSL_VERIFY_NONE;
  if (!files.authority_file.empty() || files.accepts_unverified) {
    if (files.client_certificate != Wanted::ignored) mode = SSL_VERIFY_PEER;
    if (files.client_certificate == Wanted::required) mode |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
  }
  SSL_CTX_set_verify(context, mode, files.accepts_unverified ? note_verification : nullptr);
}

}  // namespace

Result<TlsStore::Content> TlsStore::read() const {
  Content content;
  FDBPACK_TRY(content.certificate, read_file(files_.certificate_file));
  FDBPACK_TRY(content.key, read_file(files_.key_file));
  if (!files_.authority_file.empty()) {
    FDBPACK_TRY(content.authorities, read_file(files_.authority_file));
  }
  return content;
}

Result<std::shared_ptr<TlsStore::Context>> TlsStore::make(const Content& content) const {
  std::string doing = "setting up TLS";
  try {
    auto context = std::make_shared<Context>(Context::tls_server);
    set_manners(context->native_handle());
    const auto password = files_.key_password;
    context->set_password_callback(
        [password](std::size_t, Context::password_purpose) { return password; });
    doing = "loading certificate " + files_.certificate_file;
    context->use_certificate_chain(boost::asio::buffer(content.certificate));
    doing = "loading key " + files_.key_file + " for certificate " + files_.certificate_file;
    context->use_private_key(boost::asio::buffer(content.key), Context::pem);
    if (SSL_CTX_check_private_key(context->native_handle()) != 1) {
      return fail(ErrorCode::invalid_argument, doing + ": they do not belong together");
    }
    if (!files_.authority_file.empty()) {
      doing = "loading authorities " + files_.authority_file;
      context->add_certificate_authority(boost::asio::buffer(content.authorities));
    }
    ask_for_certificates(context->native_handle(), files_);
    return context;
  } catch (const boost::system::system_error& error) {
    return fail(ErrorCode::invalid_argument, doing + ": " + error.code().message());
  }
}

Result<std::unique_ptr<TlsStore>> TlsStore::load(TlsFiles files) {
  std::unique_ptr<TlsStore> store(new TlsStore(std::move(files)));
  FDBPACK_TRY(store->seen_, store->read());
  FDBPACK_TRY(store->context_, store->make(store->seen_));
  return store;
}

Result<TlsStore::Outcome> TlsStore::refresh() {
  // A file that is missing for a moment leaves `seen_` alone: when it is back, nothing happened.
  FDBPACK_TRY(Content content, read());
  if (content == seen_) return Outcome::unchanged;
  seen_ = std::move(content);
  auto made = make(seen_);
  if (!made) {
    problem_ = made.error();
    return fail(made.error());
  }
  problem_.reset();
  context_ = *std::move(made);
  return Outcome::renewed;
}

}  // namespace fdbpack::http_server
