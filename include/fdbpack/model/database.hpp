// SPDX-License-Identifier: Apache-2.0
//
// How FoundationDB keeps the data of one database. Both lists are closed; fdbcli refuses anything
// else.
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/model/version.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace fdbpack::model {

enum class RedundancyMode { single, double_, triple, three_datacenter, three_data_hall };

enum class StorageEngine {
  ssd,
  ssd_1,
  ssd_2,
  memory,
  memory_1,
  memory_2,
  memory_radixtree_beta,
  ssd_redwood_1_experimental,
  ssd_redwood_1,
  ssd_rocksdb_experimental,
  ssd_rocksdb_v1,
  ssd_sharded_rocksdb,
};

[[nodiscard]] std::span<const RedundancyMode> all_redundancy_modes();
[[nodiscard]] std::string_view to_string(RedundancyMode mode);
// How many fault domains may be lost without losing data or availability.
[[nodiscard]] std::uint32_t fault_tolerance(RedundancyMode mode);
// How many fault domains are needed to hold all copies.
[[nodiscard]] std::uint32_t minimum_fault_domains(RedundancyMode mode);

[[nodiscard]] std::span<const StorageEngine> all_storage_engines();
[[nodiscard]] std::string_view to_string(StorageEngine engine);
// The oldest version that has the engine.
[[nodiscard]] Version first_version_with(StorageEngine engine);

struct Database {
  RedundancyMode redundancy_mode = RedundancyMode::double_;
  StorageEngine storage_engine = StorageEngine::ssd_2;

  bool operator==(const Database&) const = default;
};

}  // namespace fdbpack::model
