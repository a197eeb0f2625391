// SPDX-License-Identifier: Apache-2.0
#include "agent/api/routes.hpp"

#include <string_view>

namespace fdbpack::agent {

http::Router make_routes() {
  using http::Access;
  using http::Method;
  const struct {
    Method method;
    std::string_view pattern;
    Access access;
    Call call;
  } routes[] = {
      {Method::get, "/livez", Access::probe, Call::livez},
      {Method::get, "/readyz", Access::probe, Call::readyz},
      {Method::get, "/metrics", Access::read, Call::metrics},
      {Method::get, "/v1/status", Access::read, Call::status},
      {Method::get, "/v1/processes", Access::read, Call::processes},
      {Method::get, "/v1/processes/{id}", Access::read, Call::process},
      {Method::get, "/v1/addresses", Access::read, Call::addresses},
      {Method::get, "/v1/conditions", Access::read, Call::conditions},
      {Method::get, "/v1/storage", Access::read, Call::storage},
      {Method::get, "/v1/conf", Access::read, Call::conf},
      {Method::get, "/v1/conf/diff", Access::read, Call::conf_diff},
      {Method::post, "/v1/processes/{id}/restart", Access::operate, Call::restart},
      {Method::post, "/v1/processes/{id}/stop", Access::operate, Call::stop},
      {Method::post, "/v1/processes/{id}/start", Access::operate, Call::start},
      {Method::post, "/v1/reload", Access::operate, Call::reload},
      {Method::post, "/v1/drain", Access::operate, Call::drain},
  };
  http::Router router;
  for (const auto& route : routes) {
    router.add({route.method, std::string(route.pattern), route.access,
                static_cast<int>(route.call), false});
  }
  return router;
}

}  // namespace fdbpack::agent
