// SPDX-License-Identifier: Apache-2.0
//
// How a log line looks, as formatters of spdlog. A message of spdlog carries the name of the
// process as the name of its logger.
//
//   fdbmonitor
//     Time="1794982281.552060" Severity="40" LogGroup="default" Process="fdbserver.1": text
//   text
//     2026-11-18T06:11:21.552+00:00 error fdbserver.1: text
//   json
//     {"time":"1794982281.552060","severity":40,"logGroup":"default","process":...}
//   sidecar, as sidecar.py; the process is not named
//     2026-11-18 06:11:21,552 ERROR text
//   zap, as fdb-kubernetes-monitor
//     {"level":"error","ts":1794982281.552060,"process":"fdbserver.1","msg":"text"}
//   syslog
//     <27>Nov 18 06:11:21 fdbmonitor[71]: LogGroup="default" Process="fdbserver.1": text
//   journal
//     fields of the journal's native protocol
//
// All but the last two end with a newline, and hold no other.
#pragma once

#include "adapters/posix/log_sink.hpp"

#include <spdlog/formatter.h>

#include <memory>

namespace fdbpack::posix {

inline constexpr std::string_view kAgentLogName = "fdbmonitor";

// The five severities and five of spdlog's levels stand for each other.
[[nodiscard]] spdlog::level::level_enum log_level(supervise::Severity severity);
[[nodiscard]] supervise::Severity severity_of(spdlog::level::level_enum level);

[[nodiscard]] std::unique_ptr<spdlog::formatter> line_formatter(LogFormat format,
                                                                const std::string& group);
[[nodiscard]] std::unique_ptr<spdlog::formatter> syslog_formatter(const std::string& group);
[[nodiscard]] std::unique_ptr<spdlog::formatter> journal_formatter(const std::string& group);

}  // namespace fdbpack::posix
