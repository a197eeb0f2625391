// SPDX-License-Identifier: Apache-2.0
//
// The two halves of reading a spec: processes and their sets, and everything else.
#pragma once

#include "fdbpack/model/cluster_spec.hpp"
#include "fdbpack/wire/json_reader.hpp"

#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace fdbpack::wire {

using ProcessSets = std::map<model::ProcessClass, std::vector<model::ProcessSet>>;

[[nodiscard]] ProcessSets read_processes(const JsonReader& reader);
[[nodiscard]] JsonValue write_processes(const ProcessSets& processes);

// The class that a member is named after; `also` is one more word that would have been right here,
// or empty.
[[nodiscard]] std::optional<model::ProcessClass> read_class_name(std::string_view name,
                                                                 const JsonReader& reader,
                                                                 std::string_view also);

}  // namespace fdbpack::wire
