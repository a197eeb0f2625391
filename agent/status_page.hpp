// SPDX-License-Identifier: Apache-2.0
//
// The agent as others see it: status.json.
//
//   {"agent": {...}, "conf": {"path", "errors": [{"line", "column", "severity", "message"}], ...},
//    "degraded": ["..."], "http": [...], "draining": ..., "conditions": [...], "storage": {...},
//    "process_groups": {...}, "processes": {"fdbserver.4500": {"state", "pid", ...}}}
//
// Points in time are calendar times, so that nothing has to be rewritten while nothing happens.
#pragma once

#include "agent/conf_keeper.hpp"
#include "agent/host_watch.hpp"
#include "agent/supervisor.hpp"
#include "fdbpack/base/calendar.hpp"
#include "fdbpack/wire/json_writer.hpp"

#include <string>
#include <vector>

namespace fdbpack::agent {

// Turns points on the monotonic clock into calendar time.
class Calendar {
 public:
  explicit Calendar(const ports::Clock& clock) : now_(clock.now()), wall_(clock.wall()) {}
  [[nodiscard]] WallTime at(Instant instant) const {
    return wall_ - std::chrono::duration_cast<std::chrono::milliseconds>(now_ - instant);
  }

 private:
  Instant now_;
  WallTime wall_;
};

// A place where the agent answers, or would if it could.
struct ListenerFact {
  std::string place;
  bool is_open = false;
  std::string trouble;
};

struct AgentFacts {
  std::string version;
  int pid = 0;
  WallTime started_at;
  bool is_stopping = false;
  std::vector<std::string> degraded;  // what does not work here, one sentence each
  std::vector<ListenerFact> listeners;
};

[[nodiscard]] std::string status_page(const AgentFacts& facts, const ConfKeeper& conf,
                                      const Supervisor& supervisor, const HostWatch& host,
                                      const World& world);

// Parts of it. One process as an object:
void write_process(wire::JsonWriter& json, const Supervised& who, const Calendar& calendar,
                   const World& world);
// A member "processes".
void write_processes(wire::JsonWriter& json, const Supervisor& supervisor, const World& world);

}  // namespace fdbpack::agent
