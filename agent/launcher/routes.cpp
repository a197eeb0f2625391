// SPDX-License-Identifier: Apache-2.0
#include "agent/launcher/routes.hpp"

namespace fdbpack::agent {
namespace {

enum Call { kMetrics, kLive, kReady };

http::Response refusal(const http::RouteMatch& match) {
  using Outcome = http::RouteMatch::Outcome;
  if (match.outcome == Outcome::bad_target) return http::problem(400, "this is no path");
  if (match.outcome != Outcome::wrong_method && match.outcome != Outcome::unknown_method) {
    return http::problem(404, "there is /metrics, /livez and /readyz");
  }
  auto response = http::problem(405, "this can only be read");
  if (!match.allow.empty()) response.headers.add("Allow", match.allow);
  return response;
}

http::Response text(int status, std::string body) {
  http::Response response;
  response.status = status;
  response.content_type = "text/plain; charset=utf-8";
  response.body = std::move(body);
  return response;
}

}  // namespace

LauncherRoutes::LauncherRoutes(std::function<std::string()> metrics, std::function<bool()> is_ready)
    : metrics_(std::move(metrics)), is_ready_(std::move(is_ready)) {
  router_.add({http::Method::get, "/metrics", http::Access::read, kMetrics});
  router_.add({http::Method::get, "/livez", http::Access::probe, kLive});
  router_.add({http::Method::get, "/readyz", http::Access::probe, kReady});
}

ports::Admission LauncherRoutes::admit(const http::Request& head) {
  ports::Admission admission;
  const auto match = router_.match(head.method, head.target);
  if (match.outcome != http::RouteMatch::Outcome::found) {
    admission.refusal = refusal(match);
  } else {
    admission.is_probe = match.route->access == http::Access::probe;
  }
  return admission;
}

void LauncherRoutes::handle(const http::Request& request, ports::Reply reply) {
  const auto match = router_.match(request.method, request.target);
  if (match.outcome != http::RouteMatch::Outcome::found) return reply.send(refusal(match));
  if (match.route->call == kMetrics) {
    auto response = text(200, metrics_());
    response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    return reply.send(std::move(response));
  }
  if (match.route->call == kReady && !is_ready_()) {
    return reply.send(text(503, "no configuration is in force\n"));
  }
  reply.send(text(200, "ok\n"));
}

}  // namespace fdbpack::agent
