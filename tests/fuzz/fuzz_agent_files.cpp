// SPDX-License-Identifier: Apache-2.0
//
// What the agent reads back or is sent: the state file, host.json, its configuration, bodies of
// calls, places to listen. The first byte says which. What was understood and printed must be
// understood the same again.
#include "fdbpack/http/guard.hpp"
#include "fdbpack/http/service.hpp"
#include "fdbpack/metrics/metrics_text.hpp"
#include "fdbpack/wire/agent_config.hpp"
#include "fdbpack/wire/agent_state.hpp"
#include "fdbpack/wire/conditions_json.hpp"
#include "fdbpack/wire/handover.hpp"
#include "fdbpack/wire/http_config.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace fdbpack {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check_state(std::string_view text) {
  const auto state = wire::parse_agent_state(text);
  if (!state) return;
  const auto again = wire::parse_agent_state(wire::print(*state));
  require(again && *again == *state);
}

void check_host(std::string_view text) {
  const auto record = wire::parse_host_record(text);
  if (!record) return;
  const auto again = wire::parse_host_record(wire::print(*record));
  require(again && *again == *record);
  conditions::ConditionBook book;
  book.restore(record->conditions);
  static_cast<void>(book.take({}, WallTime(std::chrono::hours(1))));
}

void check_place(std::string_view text) {
  const auto place = http::parse_listen_place(text);
  if (place) {
    const auto again = http::parse_listen_place(http::to_string(*place));
    require(again && *again == *place);
  }
  static_cast<void>(http::is_host_ours(text, {"db-7"}));
}

void check(std::uint8_t which, std::string_view text) {
  switch (which % 6) {
    case 0:
      return check_state(text);
    case 1:
      return check_host(text);
    case 2:
      return static_cast<void>(wire::parse_agent_config(text));
    case 3:
      return static_cast<void>(wire::parse_drain_request(text, 32));
    case 4:
      return check_place(text);
    default:
      static_cast<void>(metrics::check(text));
      return static_cast<void>(wire::parse_handover(text));
  }
}

}  // namespace
}  // namespace fdbpack

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0) {
    fdbpack::check(data[0], {reinterpret_cast<const char*>(data + 1), size - 1});
  }
  return 0;
}
