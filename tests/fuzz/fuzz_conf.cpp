// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a conf: nothing crashes, what can be written back is read back the same, and every
// command line belongs to a section of the file.
#include "fdbpack/base/check.hpp"
#include "fdbpack/conf/monitor_conf.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace conf = fdbpack::conf;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const conf::ParsedDocument parsed = conf::parse(text);
  for (const auto dialect : {conf::Dialect::v7_1, conf::Dialect::v7_3, conf::Dialect::v7_4}) {
    const conf::MonitorConf resolved = conf::resolve(parsed.document, {dialect});
    for (const auto& process : resolved.processes) {
      FDBPACK_CHECK(!process.argv.empty());
      FDBPACK_CHECK(process.section == process.type + "." + process.id);
    }
    (void)conf::check(text, {dialect});
  }
  const bool is_broken =
      std::any_of(parsed.diagnostics.begin(), parsed.diagnostics.end(),
                  [](const auto& found) { return found.severity == conf::Severity::error; });
  if (!is_broken) {
    const std::string once = conf::print(parsed.document);
    FDBPACK_CHECK(conf::print(conf::parse(once).document) == once);
  }
  return 0;
}
