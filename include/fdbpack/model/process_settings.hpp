// SPDX-License-Identifier: Apache-2.0
//
// How a process is run, beside its command line and environment. What is not given is as the agent
// has it, the working directory is / and the grace that of --stop-grace.
//
// As text, in a conf behind the prefix `fdbpack_` and in the configuration of `run`:
//
//   stop-grace      seconds from SIGTERM to SIGKILL, 0 to 3600, with fractions
//   cwd             an absolute path
//   umask           octal, 0 to 777
//   nice            -20 to 19
//   cpus            numbers and ranges: 0-3,8
//   oom-score-adj   -1000 to 1000
//   limit-NAME      SOFT:HARD or one number for both, or `unlimited`; NAME is one of as, core, cpu,
//                   data, fsize, memlock, nofile, nproc, rss, stack
#pragma once

#include "fdbpack/base/result.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fdbpack::model {

inline constexpr std::uint64_t kUnlimited = UINT64_MAX;

struct Limit {
  std::string name;  // "nofile"
  std::uint64_t soft = 0;
  std::uint64_t hard = 0;

  bool operator==(const Limit&) const = default;
};

struct ProcessSettings {
  std::optional<std::chrono::milliseconds> stop_grace;
  std::string working_directory;
  std::optional<std::uint32_t> umask;
  std::optional<int> nice;
  std::vector<unsigned> cpus;  // in order, each once
  std::optional<int> oom_score_adj;
  std::vector<Limit> limits;  // by name

  bool operator==(const ProcessSettings&) const = default;
};

// Sets one of them. `invalid_argument` when there is no such setting or the value is wrong; the
// message says what would be right.
[[nodiscard]] Status set_setting(ProcessSettings& settings, std::string_view name,
                                 std::string_view value);

}  // namespace fdbpack::model
