// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/wire/conf_json.hpp"

#include <nlohmann/json.hpp>

namespace fdbpack::wire {

using nlohmann::ordered_json;

std::string write_command_lines(const std::vector<conf::ProcessCommand>& processes,
                                const std::vector<std::string>& errors) {
  ordered_json list = ordered_json::array();
  for (const auto& process : processes) {
    ordered_json item;
    item["section"] = process.section;
    item["argv"] = process.argv;
    for (const auto& [name, value] : process.environment)
      item["env"].push_back(name + "=" + value);
    list.push_back(std::move(item));
  }
  ordered_json document;
  document["processes"] = std::move(list);
  document["errors"] = errors;
  return document.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace fdbpack::wire
