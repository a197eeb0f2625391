// SPDX-License-Identifier: Apache-2.0
//
// Names of process groups and of the processes in them.
//
//   process group   [prefix-]class-number    storage-12, dc1-storage-12, cluster_controller-3
//   process         <group>                  at density 1
//                   <group>-<index>          above, index from 1: storage-12-1, storage-12-2
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/model/process_class.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fdbpack::model {

inline constexpr std::size_t kProcessGroupIdBytesMax = 63;

struct ProcessGroupId {
  std::string prefix;  // letters, digits, `_` and `-`; often empty
  ProcessClass process_class = ProcessClass::storage;
  std::uint32_t number = 0;

  auto operator<=>(const ProcessGroupId&) const = default;
};

[[nodiscard]] Result<ProcessGroupId> parse_process_group_id(std::string_view text);
[[nodiscard]] std::string to_string(const ProcessGroupId& id);

// `index` counts from 1 and is at most `density`.
[[nodiscard]] std::string process_id(std::string_view group, std::uint32_t index,
                                     std::uint32_t density);

}  // namespace fdbpack::model
