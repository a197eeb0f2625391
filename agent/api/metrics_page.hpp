// SPDX-License-Identifier: Apache-2.0
//
// GET /metrics. Names are ours and clean by promtool's rules; fdb-kubernetes-monitor's, which are
// not, come along for those who ask for them.
#pragma once

#include "agent/agent.hpp"

#include <cstdint>
#include <string>

namespace fdbpack::agent {

// What the HTTP service counted.
struct ServiceCounts {
  std::uint64_t requests = 0;
  std::uint64_t bad_requests = 0;
  std::uint64_t connections = 0;
  std::uint64_t open_connections = 0;
  std::uint64_t refused = 0;
  std::uint64_t evicted = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t handshake_failures = 0;
};

struct ApiCounts {
  std::uint64_t mutations = 0;
  std::uint64_t refused_mutations = 0;
  std::uint64_t renderings = 0;
};

[[nodiscard]] std::string metrics_page(Agent& agent, const ServiceCounts& service,
                                       const ApiCounts& api, bool has_launcher_names);

}  // namespace fdbpack::agent
