// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/wire/handover.hpp"

#include "fdbpack/wire/json_writer.hpp"

#include <nlohmann/json.hpp>

namespace fdbpack::wire {
namespace {

int number(const nlohmann::json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_number_integer() ? found->get<int>() : -1;
}

std::string string(const nlohmann::json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

std::string print(const Handover& handover) {
  JsonWriter json;
  json.begin_object().member("lock_fd", handover.lock_fd).member("state", handover.state);
  json.member("files_max", handover.files_max);
  json.key("processes").begin_array();
  for (const auto& process : handover.processes) {
    json.begin_object()
        .member("section", process.section)
        .member("pidfd", process.pidfd)
        .member("out", process.out)
        .member("err", process.err)
        .end_object();
  }
  json.end_array().end_object();
  return std::move(json).text();
}

Result<Handover> parse_handover(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return fail(ErrorCode::corrupt, "it is not a JSON object");
  Handover handover;
  handover.lock_fd = number(json, "lock_fd");
  handover.state = string(json, "state");
  const auto files_max = json.find("files_max");
  if (files_max != json.end() && files_max->is_number_unsigned()) {
    handover.files_max = files_max->get<std::uint64_t>();
  }
  const auto processes = json.find("processes");
  if (processes == json.end() || !processes->is_array()) {
    return fail(ErrorCode::corrupt, "it has no processes");
  }
  for (const auto& entry : *processes) {
    if (!entry.is_object()) return fail(ErrorCode::corrupt, "a process is not an object");
    handover.processes.push_back({string(entry, "section"), number(entry, "pidfd"),
                                  number(entry, "out"), number(entry, "err")});
  }
  return handover;
}

}  // namespace fdbpack::wire
