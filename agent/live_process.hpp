// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fdbpack/supervise/machine.hpp"

#include <type_traits>
#include <variant>

namespace fdbpack::agent {

// The process that lives, in whichever phase; nullptr: none does.
[[nodiscard]] inline const supervise::Process* live_process(const supervise::State& state) {
  return std::visit(
      [](const auto& phase) -> const supervise::Process* {
        using Phase = std::remove_cvref_t<decltype(phase)>;
        if constexpr (std::is_same_v<Phase, supervise::Running> ||
                      std::is_same_v<Phase, supervise::Stopping> ||
                      std::is_same_v<Phase, supervise::Killing>) {
          return &phase.process;
        } else {
          return nullptr;
        }
      },
      state.phase);
}

}  // namespace fdbpack::agent
