// SPDX-License-Identifier: Apache-2.0
//
// The configuration that fdb-kubernetes-monitor reads, as values. Its JSON is in
// wire/unified_json.hpp.
//
//   version      which fdbserver to run
//   runServers   false: run none; not given: run them
//   arguments    one per argument of fdbserver, in the order they are passed
//
// An argument is text, the value of a variable, a number made from the process number, the address
// of one family in a variable that lists several, or a concatenation of these.
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/conf/argument.hpp"
#include "fdbpack/conf/group_conf.hpp"

#include <optional>
#include <cstdint>
#include <string>
#include <vector>

namespace fdbpack::conf {

struct UnifiedArgument {
  std::string type;  // "", Literal, Concatenate, Environment, ProcessNumber or IPList
  std::string value;
  std::vector<UnifiedArgument> values;
  std::string source;
  std::int64_t multiplier = 0;  // 0 means 1
  std::int64_t offset = 0;
  int ip_family = 0;

  bool operator==(const UnifiedArgument&) const = default;
};

struct UnifiedConf {
  std::string version;
  std::optional<bool> run_servers;
  std::vector<UnifiedArgument> arguments;

  bool operator==(const UnifiedConf&) const = default;
};

[[nodiscard]] Result<UnifiedConf> unified_conf(const GroupConf& group, std::string version);

// The text of one argument for process `number`, or fdb-kubernetes-monitor's own words for what is
// missing.
[[nodiscard]] Result<std::string> generate(const UnifiedArgument& argument, int number,
                                           const Environment& environment);

// All arguments for process `number`; `binary` comes first unless it is empty.
[[nodiscard]] Result<std::vector<std::string>> generate_all(const UnifiedConf& conf, int number,
                                                            const Environment& environment,
                                                            const std::string& binary = "");

}  // namespace fdbpack::conf
