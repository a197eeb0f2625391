// SPDX-License-Identifier: Apache-2.0
//
// The agent over HTTP: docs/http-api.md.
//
//   admit   which call is it, may this client make it, may its body come?
//   handle  a page that is ready; or an order, whose outcome is answered when it is known
//
// Every call that changes something is written to the log with who made it and what came of it,
// refused ones too. Runs on the agent's thread and decides nothing about processes: it hands orders
// to the supervisor and shows what there is.
#pragma once

#include "agent/agent.hpp"
#include "agent/api/metrics_page.hpp"
#include "agent/api/operations.hpp"
#include "agent/api/pages.hpp"
#include "agent/api/routes.hpp"
#include "fdbpack/http/access.hpp"
#include "fdbpack/http/guard.hpp"
#include "fdbpack/http/service.hpp"
#include "ports/http_handler.hpp"

#include <functional>
#include <string>

namespace fdbpack::agent {

class Api final : public ports::HttpHandler {
 public:
  // `settings` have been validated. `counts`: what the service counted so far.
  Api(Agent& agent, const http::ServiceSettings& settings, std::function<ServiceCounts()> counts);
  ~Api() override;

  [[nodiscard]] ports::Admission admit(const http::Request& head) override;
  void handle(const http::Request& request, ports::Reply reply) override;

  // The agent ends: calls that wait for an outcome are answered.
  void end_all() { operations_.end_all(); }

 private:
  [[nodiscard]] const http::RouteMatch& match(const http::Request& request);
  [[nodiscard]] std::optional<http::Response> refusal(const http::Request& head,
                                                      const http::Route& route);
  [[nodiscard]] http::Answer read(Call call, const http::RouteMatch& found);
  [[nodiscard]] http::Response ready();
  void change(const http::Request& request, Call call, ports::Reply reply);
  [[nodiscard]] http::Response reload();
  [[nodiscard]] http::Response drain(const http::Request& request);
  void audit(const std::string& who, const std::string& what, int status, std::string_view detail);
  [[nodiscard]] std::string who(const http::Request& request) const;
  void refresh_tokens();

  Agent& agent_;
  const http::ServiceSettings settings_;
  std::function<ServiceCounts()> service_counts_;
  const http::Router router_;
  http::AccessPolicy policy_;
  http::FailureLimit failures_;
  Pages pages_;
  Operations operations_;
  ApiCounts counts_;
  // The last request that was routed; most are like the one before.
  http::RouteMatch last_;
  std::string last_target_;
  http::Method last_method_ = http::Method::unknown;
  Instant tokens_read_at_;
  bool has_read_tokens_ = false;
  std::string token_trouble_;
};

}  // namespace fdbpack::agent
