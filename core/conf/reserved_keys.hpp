// SPDX-License-Identifier: Apache-2.0
//
// The keys that fdbmonitor keeps for itself.
#pragma once

#include "fdbpack/base/text.hpp"
#include "fdbpack/conf/monitor_conf.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace fdbpack::conf {

// `envvars` is last: it is kept from 7.4 on only.
inline constexpr std::array<std::string_view, 9> kReservedKeys{
    "command",
    "restart-delay",
    "initial-restart-delay",
    "restart-backoff",
    "restart-delay-reset-interval",
    "disable-lifecycle-logging",
    "delete-envvars",
    "kill-on-configuration-change",
    "envvars",
};

[[nodiscard]] inline bool same_but_for_dashes(std::string_view a, std::string_view b) {
  const auto dashed = [](char c) { return c == '_' ? '-' : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [dashed](char x, char y) { return dashed(x) == dashed(y); });
}

// Regards case, as fdbmonitor does: `Command` is looked up as the command and is passed on as well.
[[nodiscard]] inline bool is_reserved(std::string_view key, Dialect dialect) {
  const auto end = dialect == Dialect::v7_4 ? kReservedKeys.end() : kReservedKeys.end() - 1;
  return std::any_of(kReservedKeys.begin(), end, [key](std::string_view reserved) {
    return same_but_for_dashes(key, reserved);
  });
}

// The name behind the prefix of the agent's own keys, in lower case and with dashes; empty: it is
// none of them.
[[nodiscard]] inline std::string own_setting(std::string_view key) {
  constexpr std::string_view kPrefix = "fdbpack-";
  const std::string name = text::to_lower(text::replace_all(key, "_", "-"));
  return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : std::string();
}

}  // namespace fdbpack::conf
