// SPDX-License-Identifier: Apache-2.0
//
// What fdbmonitor makes of a conf: for every section whose name holds a dot one process, its
// command line and the keys fdbmonitor keeps for itself.
//
//   [fdbmonitor]        user, group, and last resort for the four restart keys
//   [general]           defaults of every process
//   [TYPE]              defaults of the processes of this type
//   [TYPE.ID]           one process; the name divides at its last dot
//
// A key is looked up in [TYPE.ID], [TYPE], [general]; at each level in its own spelling, then with
// `-` as `_`. Every key that fdbmonitor does not keep becomes one argument `--key=value`, in byte
// order without regard to case.
//
// The agent has keys of its own, all of which begin with `fdbpack_` (or `fdbpack-`); fdbmonitor
// passes them on like any other. model/process_settings.hpp lists them.
#pragma once

#include "fdbpack/conf/document.hpp"
#include "fdbpack/model/process_settings.hpp"
#include "fdbpack/model/restart_policy.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fdbpack::conf {

// fdbmonitor changed over its releases; see docs/conf.md. The supervisor runs `v7_4`, the newest.
enum class Dialect {
  v7_1,  // IDs are cut at 20 characters; $PID and envvars are nothing special
  v7_3,  // $PID is replaced
  v7_4,  // envvars is kept and not passed on
};

[[nodiscard]] std::optional<Dialect> parse_dialect(std::string_view version);

struct ResolveOptions {
  Dialect dialect = Dialect::v7_3;
  std::string pid = "$PID";   // what replaces $PID, from 7.3 on
  bool is_for_agent = false;  // keys of the agent's own are read and not passed on
};

inline constexpr std::uint64_t kMemoryLimitDefaultBytes = std::uint64_t{8} << 30;

// One process as fdbmonitor would run it.
struct ProcessCommand {
  std::string section;  // "fdbserver.4500"
  std::string type;     // "fdbserver"
  std::string id;       // "4500"
  std::vector<std::string> argv;
  model::RestartPolicy restart;
  bool is_quiet = false;  // disable-lifecycle-logging
  bool kill_on_configuration_change = true;
  std::vector<std::string> deleted_environment;  // delete-envvars, wins over environment
  std::vector<std::pair<std::string, std::string>> environment;  // envvars
  std::uint64_t memory_limit_bytes = kMemoryLimitDefaultBytes;   // 0: no limit
  model::ProcessSettings settings;                               // only where it is for the agent
  Position at;

  bool operator==(const ProcessCommand&) const = default;
};

struct MonitorConf {
  std::string user;  // empty: not given
  std::string group;
  std::vector<ProcessCommand> processes;  // by section name, in byte order
  // Sections that fdbmonitor would not start, in its own words, by section name.
  struct Refusal {
    std::string section;
    std::string message;
    Position at;
    bool operator==(const Refusal&) const = default;
  };
  std::vector<Refusal> refusals;
  // What is not named any more is stopped whatever it said about changes. Not in any file.
  bool kills_removed = false;
};

[[nodiscard]] MonitorConf resolve(const Document& document, const ResolveOptions& options = {});

// All that is wrong or suspicious in a conf: what parsing swallowed, what resolve() refused, and
// what fdbmonitor would run by accident (two spellings of one key, a reserved key in the wrong
// case, two processes on one port or data directory, a relative command, ...). In order of
// appearance.
[[nodiscard]] std::vector<Diagnostic> check(std::string_view text,
                                            const ResolveOptions& options = {});

// fdbmonitor's size suffixes: B, KB, KiB, MB, MiB, GB, GiB, TB, TiB; none means MiB; anything else
// is 0.
[[nodiscard]] std::uint64_t parse_memory(std::string_view text);

}  // namespace fdbpack::conf
