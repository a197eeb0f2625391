// SPDX-License-Identifier: Apache-2.0
//
// The agent as others see it: status.json.
//
//   {"agent": {...}, "conf": {"path", "errors": [{"line", "column", "severity", "message"}], ...},
//    "degraded": ["..."], "processes": {"fdbserver.4500": {"state", "pid", "started_at", ...}}}
//
// Points in time are calendar times, so that nothing has to be rewritten while nothing happens.
#pragma once

#include "agent/conf_keeper.hpp"
#include "agent/supervisor.hpp"

#include <string>
#include <vector>

namespace fdbpack::agent {

struct AgentFacts {
  std::string version;
  int pid = 0;
  WallTime started_at;
  bool is_stopping = false;
  std::vector<std::string> degraded;  // what does not work here, one sentence each
};

[[nodiscard]] std::string status_page(const AgentFacts& facts, const ConfKeeper& conf,
                                      const Supervisor& supervisor, const World& world);

}  // namespace fdbpack::agent
