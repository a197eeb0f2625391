// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/model/database.hpp"

#include "fdbpack/base/check.hpp"

#include <array>

namespace fdbpack::model {
namespace {

constexpr std::array kModes = {RedundancyMode::single, RedundancyMode::double_,
                               RedundancyMode::triple, RedundancyMode::three_datacenter,
                               RedundancyMode::three_data_hall};

constexpr std::array kEngines = {
    StorageEngine::ssd,
    StorageEngine::ssd_1,
    StorageEngine::ssd_2,
    StorageEngine::memory,
    StorageEngine::memory_1,
    StorageEngine::memory_2,
    StorageEngine::memory_radixtree_beta,
    StorageEngine::ssd_redwood_1_experimental,
    StorageEngine::ssd_redwood_1,
    StorageEngine::ssd_rocksdb_experimental,
    StorageEngine::ssd_rocksdb_v1,
    StorageEngine::ssd_sharded_rocksdb,
};

}  // namespace

std::span<const RedundancyMode> all_redundancy_modes() {
  return kModes;
}

std::string_view to_string(RedundancyMode mode) {
  switch (mode) {
    case RedundancyMode::single:
      return "single";
    case RedundancyMode::double_:
      return "double";
    case RedundancyMode::triple:
      return "triple";
    case RedundancyMode::three_datacenter:
      return "three_datacenter";
    case RedundancyMode::three_data_hall:
      return "three_data_hall";
  }
  FDBPACK_UNREACHABLE();
}

std::uint32_t fault_tolerance(RedundancyMode mode) {
  return minimum_fault_domains(mode) - 1;
}

std::uint32_t minimum_fault_domains(RedundancyMode mode) {
  switch (mode) {
    case RedundancyMode::single:
      return 1;
    case RedundancyMode::double_:
      return 2;
    case RedundancyMode::triple:
    case RedundancyMode::three_datacenter:
    case RedundancyMode::three_data_hall:
      return 3;
  }
  FDBPACK_UNREACHABLE();
}

std::span<const StorageEngine> all_storage_engines() {
  return kEngines;
}

std::string_view to_string(StorageEngine engine) {
  switch (engine) {
    case StorageEngine::ssd:
      return "ssd";
    case StorageEngine::ssd_1:
      return "ssd-1";
    case StorageEngine::ssd_2:
      return "ssd-2";
    case StorageEngine::memory:
      return "memory";
    case StorageEngine::memory_1:
      return "memory-1";
    case StorageEngine::memory_2:
      return "memory-2";
    case StorageEngine::memory_radixtree_beta:
      return "memory-radixtree-beta";
    case StorageEngine::ssd_redwood_1_experimental:
      return "ssd-redwood-1-experimental";
    case StorageEngine::ssd_redwood_1:
      return "ssd-redwood-1";
    case StorageEngine::ssd_rocksdb_experimental:
      return "ssd-rocksdb-experimental";
    case StorageEngine::ssd_rocksdb_v1:
      return "ssd-rocksdb-v1";
    case StorageEngine::ssd_sharded_rocksdb:
      return "ssd-sharded-rocksdb";
  }
  FDBPACK_UNREACHABLE();
}

Version first_version_with(StorageEngine engine) {
  if (engine == StorageEngine::ssd_sharded_rocksdb) return {7, 2, 0, 0};
  if (engine == StorageEngine::ssd_redwood_1) return {7, 3, 0, 0};
  if (engine == StorageEngine::ssd_rocksdb_v1) return {7, 1, 0, 0};
  const bool is_old_preview = engine == StorageEngine::ssd_redwood_1_experimental ||
                              engine == StorageEngine::ssd_rocksdb_experimental;
  return is_old_preview ? Version{7, 0, 0, 0} : Version{};
}

}  // namespace fdbpack::model
