// SPDX-License-Identifier: Apache-2.0
//
// What a careful reader would say about a conf before it is used.
#include "fdbpack/base/text.hpp"
#include "fdbpack/conf/listener.hpp"
#include "fdbpack/conf/monitor_conf.hpp"
#include "fdbpack/conf/path.hpp"
#include "fold.hpp"
#include "reserved_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace fdbpack::conf {
namespace {

class Checker {
 public:
  Checker(std::string_view text, const ResolveOptions& options) : options_(options) {
    ParsedDocument parsed = parse(text);
    document_ = std::move(parsed.document);
    found_ = std::move(parsed.diagnostics);
    conf_ = resolve(document_, options);
  }

  std::vector<Diagnostic> run() {
    for (const auto& refusal : conf_.refusals) {
      error(refusal.at,
            fmt::format("[{}] cannot be started: {}", refusal.section, refusal.message));
    }
    for (const Section& section : document_.sections)
      check_section(section);
    for (const ProcessCommand& process : conf_.processes)
      check_process(process);
    for (const Conflict& conflict : find_conflicts(conf_.processes))
      error(conflict.at, conflict.message);
    std::stable_sort(found_.begin(), found_.end(), [](const Diagnostic& a, const Diagnostic& b) {
      return std::pair(a.at.line, a.at.column) < std::pair(b.at.line, b.at.column);
    });
    return std::move(found_);
  }

 private:
  void check_section(const Section& section) {
    for (const Entry& entry : section.entries) {
      if (!options_.is_for_agent && !own_setting(entry.key).empty()) {
        warn(entry.at, fmt::format("'{}' is a key of fdbpack-agent; fdbmonitor passes it on to the "
                                   "process, which does not start with it",
                                   entry.key));
      }
      const auto reserved =
          std::find_if(kReservedKeys.begin(), kReservedKeys.end(), [&](std::string_view key) {
            return same_name(text::replace_all(entry.key, "_", "-"), key);
          });
      if (reserved == kReservedKeys.end()) continue;
      if (!same_but_for_dashes(entry.key, *reserved)) {
        error(entry.at,
              fmt::format(
                  "fdbmonitor's key '{}' must be in lower case; as it is, the process gets it as "
                  "an argument too and does not start",
                  *reserved));
      } else if (*reserved == "envvars" && options_.dialect != Dialect::v7_4) {
        warn(entry.at,
             "fdbmonitor before 7.4 passes 'envvars' on to the process, which does not start with "
             "it");
      }
    }
  }

  void check_process(const ProcessCommand& process) {
    if (!process.argv.front().starts_with('/')) {
      error(process.at,
            fmt::format("the command of [{}] is '{}'; give its full path, because fdbmonitor looks "
                        "nowhere else",
                        process.section, process.argv.front()));
    }
    // fdbserver takes --a-b and --a_b for the same option; fdbmonitor passes both.
    std::map<std::string, std::string_view> spellings;
    for (const std::string& argument : process.argv) {
      if (!argument.starts_with("--")) continue;
      const std::string_view name = std::string_view(argument).substr(0, argument.find('='));
      const auto [first, is_new] = spellings.emplace(text::replace_all(name, "_", "-"), name);
      if (!is_new) {
        error(process.at, fmt::format("[{}] gets both {} and {}; use one spelling everywhere",
                                      process.section, first->second, name));
      }
    }
    if (process.memory_limit_bytes == 0) {
      warn(process.at,
           fmt::format("the memory of [{}] is not limited: its 'memory' is 0 or cannot be read",
                       process.section));
    }
  }

  void error(Position at, std::string message) {
    found_.push_back({Severity::error, at, std::move(message)});
  }
  void warn(Position at, std::string message) {
    found_.push_back({Severity::warning, at, std::move(message)});
  }

  const ResolveOptions& options_;
  Document document_;
  MonitorConf conf_;
  std::vector<Diagnostic> found_;
};

}  // namespace

std::vector<Diagnostic> check(std::string_view text, const ResolveOptions& options) {
  return Checker(text, options).run();
}

}  // namespace fdbpack::conf
