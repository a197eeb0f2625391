// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/supervise/agent_record.hpp"

namespace fdbpack::supervise {

const ProcessRecord* AgentState::find(std::string_view section) const {
  for (const auto& record : processes) {
    if (record.section == section) return &record;
  }
  return nullptr;
}

}  // namespace fdbpack::supervise
