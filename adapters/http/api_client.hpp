// SPDX-License-Identifier: Apache-2.0
//
// Speaks to the Kubernetes API server: TLS with the cluster's authority, a bearer token, one
// connection per call.
//
//   connect ─> request ─> answer, or line after line ─> closed
//   └────────────── one deadline over all of it ─────────────┘
//
// Authority and token are read for every call: both are renewed while we run.
#pragma once

#include "fdbpack/http/endpoint.hpp"
#include "ports/api_server.hpp"

#include <boost/asio/io_context.hpp>

#include <cstdint>
#include <memory>
#include <set>
#include <string>

namespace fdbpack::http_client {

struct ApiPlace {
  std::string host;  // an address or a name
  std::uint16_t port = 443;
  std::string authority_file;
  std::string token_file;
};

class ApiClient final : public ports::ApiServer {
 public:
  ApiClient(boost::asio::io_context& io, ApiPlace place);
  ~ApiClient() override;  // gives up all calls: nothing is told any more

  void send(ports::ApiRequest request, OnReply on_reply) override;
  void watch(ports::ApiRequest request, OnLine on_line, OnReply on_end) override;

 private:
  struct Call;
  void start(ports::ApiRequest request, OnLine on_line, OnReply on_reply);
  void finish(const std::shared_ptr<Call>& call, Result<ports::ApiReply> reply);

  boost::asio::io_context& io_;
  const ApiPlace place_;
  const http::Endpoint endpoint_;
  std::set<std::shared_ptr<Call>> calls_;
};

}  // namespace fdbpack::http_client
