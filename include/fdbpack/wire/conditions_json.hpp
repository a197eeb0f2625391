// SPDX-License-Identifier: Apache-2.0
//
// Conditions as JSON: in pages, and in the file that the next agent reads.
//
//   {"version":1,"draining":{"since":"…","reason":"…"},"conditions":[{"type":"crashLooping",
//     "process":"fdbserver.4500","active":true,"first_seen":"2026-01-02T03:04:05.678Z",
//     "last_seen":"…","times":1,"reason":"…"}]}
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/conditions/condition.hpp"
#include "fdbpack/wire/json_writer.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fdbpack::wire {

// An administrator wants this host to be given up.
struct Draining {
  WallTime since;
  std::string reason;
  bool operator==(const Draining&) const = default;
};

struct HostRecord {
  std::vector<conditions::Condition> conditions;
  std::optional<Draining> draining;
  bool operator==(const HostRecord&) const = default;
};

// A member "conditions" with the list.
void write_conditions(JsonWriter& json, const std::vector<conditions::Condition>& list);
// A member "draining": an object or null.
void write_draining(JsonWriter& json, const std::optional<Draining>& draining);

[[nodiscard]] std::string print(const HostRecord& record);
// `corrupt` when it is torn or not ours.
[[nodiscard]] Result<HostRecord> parse_host_record(std::string_view text);

}  // namespace fdbpack::wire
