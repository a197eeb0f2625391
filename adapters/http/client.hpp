// SPDX-License-Identifier: Apache-2.0
//
// An HTTP/1.1 client on the caller's io_context and thread; see ports/http_client.hpp for what it
// promises.
//
//   Client client(io, *http::parse_endpoint("https://db-1:2379"), {.authority_file = "ca.pem"});
//   auto call = client.call({.target = "/version"}, [](Result<ports::HttpAnswer> answer) { … });
//
// A redirect is an answer like any other. There is no pipelining: the next request is sent when the
// answer before is complete.
#pragma once

#include "adapters/http/client_stream.hpp"
#include "ports/http_client.hpp"

#include <boost/asio/io_context.hpp>

#include <memory>

namespace fdbpack::http_client {

class Client final : public ports::HttpClient {
 public:
  Client(boost::asio::io_context& io, http::Endpoint endpoint, TlsClientFiles files = {});
  ~Client() override;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  [[nodiscard]] std::unique_ptr<ports::HttpCall> call(ports::HttpRequest request,
                                                      OnAnswer on_answer) override;
  [[nodiscard]] std::unique_ptr<ports::HttpCall> stream(ports::HttpRequest request, OnLine on_line,
                                                        OnAnswer on_end) override;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace fdbpack::http_client
