// SPDX-License-Identifier: Apache-2.0
//
// The calls of the agent, as in docs/http-api.md and docs/openapi/agent.json.
#pragma once

#include "fdbpack/http/router.hpp"

namespace fdbpack::agent {

enum class Call {
  livez,
  readyz,
  metrics,
  status,
  processes,
  process,
  addresses,
  conditions,
  storage,
  conf,
  conf_diff,
  restart,
  stop,
  start,
  reload,
  drain,
};

[[nodiscard]] http::Router make_routes();

}  // namespace fdbpack::agent
