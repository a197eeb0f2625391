// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/supervise/agent_record.hpp"

#include "fdbpack/base/text.hpp"

namespace fdbpack::supervise {

const ProcessRecord* AgentState::find(std::string_view section) const {
  for (const auto& record : processes) {
    if (text::compare_ignoring_case(record.section, section) == 0) return &record;
  }
  return nullptr;
}

}  // namespace fdbpack::supervise
