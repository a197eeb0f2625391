// SPDX-License-Identifier: Apache-2.0
//
// What is known of a machine or pod that runs one agent, before anything is placed on it.
#pragma once

#include "fdbpack/model/address.hpp"
#include "fdbpack/model/storage_unit.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fdbpack::model {

using Labels = std::map<std::string, std::string>;

struct HostFacts {
  std::string name;
  Labels labels;                // `az`, `rack`, ...: physical fault domains and what sets choose by
  std::uint32_t cpu_milli = 0;  // thousandths of a core
  std::uint64_t memory_mib = 0;
  std::vector<Address> addresses;  // without ports
  std::vector<StorageUnit> storage_units;

  bool operator==(const HostFacts&) const = default;
};

}  // namespace fdbpack::model
