// SPDX-License-Identifier: Apache-2.0
//
// One place to put data on a host. Two units are the same place exactly when type, key and params
// agree; each has its own room, and rooms of different units are never added up.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace fdbpack::model {

struct StorageUnitId {
  std::string type;                 // "file"
  std::string key;                  // "nvme"; in a request the empty key stands for any
  std::vector<std::string> params;  // further words that the type understands

  auto operator<=>(const StorageUnitId&) const = default;
};

struct StorageUnit {
  StorageUnitId id;
  std::uint64_t total_mib = 0;
  std::uint64_t free_mib = 0;  // at most total_mib

  bool operator==(const StorageUnit&) const = default;
};

}  // namespace fdbpack::model
