// SPDX-License-Identifier: Apache-2.0
//
// What an agent writes down for the agent after it: which processes it left running and what it
// knew about them.
//
//   {"version":1,"boot_id":"...","agent_id":"...","processes":[
//     {"section":"fdbserver.4500","pid":71,"start_ticks":8812,"exe_device":2049,"exe_inode":77,
//      "command":"8af...","settings":"77b...","since_ns":...,"joined_ns":... or
//      "join_unknown":true,"starts":3,
//      "memory_limit_bytes":8589934592,"kill_on_change":true,"held":false}]}
//
// The file means something only during the boot in which it was written: pids, start times and the
// monotonic clock all begin anew. A reader takes it as a hint and verifies each process.
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/supervise/agent_record.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace fdbpack::wire {

using ProcessRecord = supervise::ProcessRecord;
using AgentState = supervise::AgentState;

// "8af0000000000000.77b0000000000000" and back.
[[nodiscard]] std::string print(const supervise::Revision& revision);
[[nodiscard]] std::optional<supervise::Revision> parse_revision(std::string_view text);

[[nodiscard]] std::string print(const AgentState& state);
// `corrupt` when it is torn or not ours, `unsupported` when it is of another version.
[[nodiscard]] Result<AgentState> parse_agent_state(std::string_view text);

}  // namespace fdbpack::wire
