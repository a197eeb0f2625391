// SPDX-License-Identifier: Apache-2.0
#include "adapters/http/client_stream.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/system_error.hpp>
#include <openssl/ssl.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <utility>

namespace fdbpack::http_client {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using asio::generic::stream_protocol;
using boost::system::error_code;

// A peer whose machine is gone is noticed within half a minute, even by who only waits.
void set_manners(int fd) {
  const auto set = [fd](int level, int name, int value) {
    ::setsockopt(fd, level, name, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 25'000);
}

Error tls_error(const std::string& what, const error_code& code) {
  return Error{ErrorCode::unavailable, what + ": " + code.message()};
}

}  // namespace

ClientStream::ClientStream(asio::io_context& io, http::Endpoint endpoint, TlsClientFiles files)
    : io_(io),
      endpoint_(std::move(endpoint)),
      files_(std::move(files)),
      resolver_(io.get_executor()),
      socket_(io.get_executor()) {}

void ClientStream::open(OnOpen on_open) {
  on_open_ = std::move(on_open);
  if (!endpoint_.unix_path.empty()) {
    if (endpoint_.unix_path.size() >= sizeof(sockaddr_un::sun_path)) {
      return finish_open(fail(ErrorCode::unavailable, "the path is too long for a unix socket"));
    }
    addresses_ = {
        stream_protocol::endpoint(asio::local::stream_protocol::endpoint(endpoint_.unix_path))};
    return connect(0);
  }
  error_code not_an_address;
  const auto address = asio::ip::make_address(endpoint_.host, not_an_address);
  if (!not_an_address) {
    addresses_ = {stream_protocol::endpoint(asio::ip::tcp::endpoint(address, endpoint_.port))};
    return connect(0);
  }
  resolver_.async_resolve(endpoint_.host, std::to_string(endpoint_.port),
                          asio::ip::resolver_base::numeric_service,
                          [self = shared_from_this()](error_code error, const auto& found) {
                            if (self->is_closed_) return;
                            if (error) {
                              return self->finish_open(fail(
                                  ErrorCode::unavailable,
                                  "looking up '" + self->endpoint_.host + "': " + error.message()));
                            }
                            for (const auto& entry : found) {
                              self->addresses_.emplace_back(entry.endpoint());
                            }
                            self->connect(0);
                          });
}

void ClientStream::connect(std::size_t index) {
  error_code ignored;
  socket_.close(ignored);
  socket_.async_connect(addresses_[index], [self = shared_from_this(), index](error_code error) {
    if (self->is_closed_) return;
    if (!error) return self->connected();
    if (index + 1 < self->addresses_.size()) return self->connect(index + 1);
    self->finish_open(fail(ErrorCode::unavailable, "connecting: " + error.message()));
  });
}

void ClientStream::connected() {
  if (endpoint_.unix_path.empty()) set_manners(socket_.native_handle());
  if (!endpoint_.is_tls) return finish_open({});
  handshake();
}

Result<std::unique_ptr<ssl::context>> ClientStream::make_context() const {
  std::string doing = "setting up TLS";
  try {
    auto context = std::make_unique<ssl::context>(ssl::context::tls_client);
    SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
    SSL_CTX_set_mode(context->native_handle(), SSL_MODE_RELEASE_BUFFERS);
    context->set_verify_mode(ssl::verify_peer);
    doing = "loading authorities " + files_.authority_file;
    if (files_.authority_file.empty()) {
      context->set_default_verify_paths();
    } else {
      context->load_verify_file(files_.authority_file);
    }
    if (!files_.certificate_file.empty()) {
      const auto password = files_.key_password;
      context->set_password_callback(
          [password](std::size_t, ssl::context::password_purpose) { return password; });
      doing = "loading certificate " + files_.certificate_file;
      context->use_certificate_chain_file(files_.certificate_file);
      doing = "loading key " + files_.key_file;
      context->use_private_key_file(files_.key_file, ssl::context::pem);
    }
    return context;
  } catch (const boost::system::system_error& error) {
    return fail(tls_error(doing, error.code()));
  }
}

void ClientStream::handshake() {
  auto context = make_context();
  if (!context) return finish_open(fail(std::move(context).error()));
  context_ = *std::move(context);
  tls_.emplace(socket_, *context_);
  const std::string& name = files_.server_name.empty() ? endpoint_.host : files_.server_name;
  error_code not_an_address;
  asio::ip::make_address(name, not_an_address);
  if (not_an_address) {
    SSL_ctrl(tls_->native_handle(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
             const_cast<char*>(name.c_str()));
  }
  tls_->set_verify_callback(ssl::host_name_verification(name));
  tls_->async_handshake(ssl::stream_base::client,
                        [self = shared_from_this(), name](error_code error) {
                          if (self->is_closed_) return;
                          if (!error) return self->finish_open({});
                          self->finish_open(fail(tls_error("TLS with '" + name + "'", error)));
                        });
}

void ClientStream::finish_open(Status status) {
  asio::post(io_, [self = shared_from_this(), status = std::move(status)]() mutable {
    if (self->is_closed_ || !self->on_open_) return;
    std::exchange(self->on_open_, nullptr)(std::move(status));
  });
}

void ClientStream::read_some(OnRead on_read) {
  auto handler = [self = shared_from_this(), on_read = std::move(on_read)](error_code error,
                                                                           std::size_t count) {
    if (!self->is_closed_) on_read(error, std::string_view(self->input_.data(), count));
  };
  const auto buffer = asio::buffer(input_);
  if (tls_) return tls_->async_read_some(buffer, std::move(handler));
  socket_.async_read_some(buffer, std::move(handler));
}

void ClientStream::write_all(std::shared_ptr<const std::string> text, OnWritten on_written) {
  const auto buffer = asio::buffer(*text);
  auto handler = [self = shared_from_this(), text, on_written = std::move(on_written)](
                     error_code error, std::size_t) {
    if (!self->is_closed_) on_written(error);
  };
  if (tls_) return asio::async_write(*tls_, buffer, std::move(handler));
  asio::async_write(socket_, buffer, std::move(handler));
}

void ClientStream::close() {
  is_closed_ = true;
  on_open_ = nullptr;
  resolver_.cancel();
  error_code ignored;
  socket_.close(ignored);
}

bool ClientStream::is_stale() {
  char byte = 0;
  const ssize_t count =
      ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT | MSG_NOSIGNAL);
  if (count < 0) return errno != EAGAIN && errno != EINTR;
  return count == 0 || !tls_;  // TLS may have a ticket for us there
}

}  // namespace fdbpack::http_client
