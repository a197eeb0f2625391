// SPDX-License-Identifier: Apache-2.0
//
// A connection to a server, plain, over TLS or through a unix socket.
//
//   open() ──resolve──> connect, address after address ──> [handshake] ──> open ──close()──> gone
//
// The certificates are read anew for each connection, so that a renewal needs no restart. Handlers
// run on the loop; none runs after close(). What was being done keeps the object alive until it is
// over.
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/http/endpoint.hpp"

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fdbpack::http_client {

struct TlsClientFiles {
  std::string authority_file;  // who signs the server's certificate; empty: whom the system trusts
  std::string certificate_file;  // shown to the server; empty: none
  std::string key_file;
  std::string key_password;
  std::string server_name;  // what the server's certificate must be for; empty: the endpoint's host
};

class ClientStream : public std::enable_shared_from_this<ClientStream> {
 public:
  using Executor = boost::asio::io_context::executor_type;
  using Socket = boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol, Executor>;
  using OnOpen = std::function<void(Status)>;
  using OnRead = std::function<void(boost::system::error_code, std::string_view bytes)>;
  using OnWritten = std::function<void(boost::system::error_code)>;

  ClientStream(boost::asio::io_context& io, http::Endpoint endpoint, TlsClientFiles files);

  void open(OnOpen on_open);
  // One at a time of each. What was read is there until the next read.
  void read_some(OnRead on_read);
  void write_all(std::shared_ptr<const std::string> text, OnWritten on_written);
  void close();
  // The server has closed or said something unasked: nothing can be sent on it any more.
  [[nodiscard]] bool is_stale();

 private:
  void connect(std::size_t index);
  void connected();
  void handshake();
  [[nodiscard]] Result<std::unique_ptr<boost::asio::ssl::context>> make_context() const;
  void finish_open(Status status);

  boost::asio::io_context& io_;
  const http::Endpoint endpoint_;
  const TlsClientFiles files_;
  boost::asio::ip::basic_resolver<boost::asio::ip::tcp, Executor> resolver_;
  std::vector<boost::asio::generic::stream_protocol::endpoint> addresses_;
  Socket socket_;
  std::unique_ptr<boost::asio::ssl::context> context_;
  std::optional<boost::asio::ssl::stream<Socket&>> tls_;
  OnOpen on_open_;
  std::array<char, 16 * 1024> input_;
  bool is_closed_ = false;
};

}  // namespace fdbpack::http_client
