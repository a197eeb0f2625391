// SPDX-License-Identifier: Apache-2.0
//
// Speaks to the Kubernetes API server: TLS with the cluster's authority, a bearer token, one
// connection per call.
//
//   resolve ─> connect ─> handshake ─> request ─> head ─> body, or line after line ─> closed
//   └──────────────────────────── one deadline over all of it ───────────────────────┘
//
// Authority and token are read for every call: both are renewed while we run.
#pragma once

#include "adapters/http/task_group.hpp"
#include "ports/api_server.hpp"

#include <boost/asio/io_context.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

namespace fdbpack::http_server {

struct ApiPlace {
  std::string host;  // an address or a name
  std::uint16_t port = 443;
  std::string authority_file;
  std::string token_file;
};

class ApiClient final : public ports::ApiServer {
 public:
  ApiClient(boost::asio::io_context& io, ApiPlace place);
  ~ApiClient() override;  // after stop() has called back, or when nothing is under way

  void send(ports::ApiRequest request, OnReply on_reply) override;
  void watch(ports::ApiRequest request, OnLine on_line, OnReply on_end) override;

  // Ends what is under way, each call with an error, then calls back.
  void stop(std::function<void()> on_stopped);

 private:
  class Call;
  void start(ports::ApiRequest request, OnLine on_line, OnReply on_reply);

  boost::asio::io_context& io_;
  ApiPlace place_;
  std::set<std::shared_ptr<Call>> calls_;
  bool is_stopping_ = false;
  TaskGroup tasks_;
};

}  // namespace fdbpack::http_server
