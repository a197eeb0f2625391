// SPDX-License-Identifier: Apache-2.0
//
// The simulated conf file: three sections that come, go and change, and ways to spoil the text.
#pragma once

#include "fdbpack/base/random.hpp"
#include "fdbpack/conf/monitor_conf.hpp"

#include <array>
#include <memory>
#include <string>
#include <unordered_map>

namespace fdbpack::supervise::sim {

inline constexpr int kIds = 3;

[[nodiscard]] std::string section_name(int id);
[[nodiscard]] int id_of(std::string_view section);

struct SectionSpec {
  bool is_present = true;
  bool kill_on_change = true;
  bool is_broken = false;  // a flag that fdbmonitor refuses
  int revision = 0;
  int environment = 0;
  int policy = 0;
};

struct ConfSpec {
  std::array<SectionSpec, kIds> sections;
  unsigned version = 0;  // in the first line, so that no text is the beginning of another
};

[[nodiscard]] std::string print(const ConfSpec& spec);
void edit(ConfSpec& spec, Random& random);

struct ParsedConf {
  std::string text;
  conf::MonitorConf conf;
  std::vector<conf::Diagnostic> diagnostics;
};

// Texts repeat from schedule to schedule; each is parsed once.
class ConfCache {
 public:
  std::shared_ptr<const ParsedConf> get(const std::string& text);

 private:
  std::unordered_map<std::string, std::shared_ptr<const ParsedConf>> parsed_;
};

}  // namespace fdbpack::supervise::sim
