// SPDX-License-Identifier: Apache-2.0
//
// What the launcher serves at --listen-address: /metrics under fdb-kubernetes-monitor's names, and
// the probes that it lacks, /livez and /readyz. There is nothing that changes anything.
#pragma once

#include "fdbpack/http/router.hpp"
#include "ports/http_handler.hpp"

#include <functional>
#include <string>

namespace fdbpack::agent {

class LauncherRoutes final : public ports::HttpHandler {
 public:
  LauncherRoutes(std::function<std::string()> metrics, std::function<bool()> is_ready);

  [[nodiscard]] ports::Admission admit(const http::Request& head) override;
  void handle(const http::Request& request, ports::Reply reply) override;

 private:
  http::Router router_;
  std::function<std::string()> metrics_;
  std::function<bool()> is_ready_;
};

}  // namespace fdbpack::agent
