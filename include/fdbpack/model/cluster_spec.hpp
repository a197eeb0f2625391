// SPDX-License-Identifier: Apache-2.0
//
// What an administrator asks for: one database, its processes by class and set, and how they are
// run. A value of these types has been validated; wire/spec_json.hpp reads and writes it as JSON.
//
//   cluster
//   ├── storage            class
//   │   ├── default        set: count, density, disk, hosts
//   │   └── az-2           set that inherited from `default` what it did not give
//   └── log
//       └── default
//
// Inheritance is done while reading, so every set here is complete.
#pragma once

#include "fdbpack/model/custom_parameter.hpp"
#include "fdbpack/model/database.hpp"
#include "fdbpack/model/host_facts.hpp"
#include "fdbpack/model/ids.hpp"
#include "fdbpack/model/process_class.hpp"
#include "fdbpack/model/storage_unit.hpp"
#include "fdbpack/model/version.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fdbpack::model {

inline constexpr Version kVersionMin{7, 1, 0, 0};
inline constexpr std::string_view kDefaultSet = "default";

struct Tls {
  bool enabled = false;
  std::string
      verify_peers;  // FoundationDB's peer verification rules; empty means FoundationDB's own

  bool operator==(const Tls&) const = default;
};

// What one process group takes of its host; nothing means no demand is made.
struct Resources {
  std::optional<std::uint32_t> cpu_milli;  // thousandths of a core
  std::optional<std::uint64_t> memory_mib;

  bool operator==(const Resources&) const = default;
};

struct ProcessSet {
  std::string name{kDefaultSet};
  std::uint32_t count = 1;             // process groups, not processes
  std::uint32_t servers_per_disk = 1;  // above 1 only for storage, log and transaction
  std::optional<std::uint64_t> disk_mib;
  std::optional<StorageUnitId> storage_unit;
  Resources resources;
  Labels hosts;  // a host is taken only when it has all of these labels

  bool operator==(const ProcessSet&) const = default;
};

// Logical fault domains: several hosts' worth of process groups share one zone ID that we choose.
struct Distribution {
  bool enabled = false;
  std::optional<std::uint32_t>
      desired_fault_domains;  // nothing: as few as the redundancy mode needs
  bool required = false;  // refuse to put two domains on one physical domain, rather than avoid it
  std::string physical_domain = "host";  // "host", or the host label that names what fails as one

  bool operator==(const Distribution&) const = default;
};

// What is done without being asked, and how patiently. The names and defaults are the FDB
// operator's.
struct Automation {
  bool replace_failed = true;
  std::uint32_t failure_detection_seconds = 7200;
  std::uint32_t max_concurrent_replacements = 1;
  std::uint32_t ignore_missing_processes_seconds = 30;
  std::uint32_t wait_between_removals_seconds = 60;
  std::uint32_t minimum_uptime_seconds_for_bounce = 600;
  bool kill_processes = true;
  bool configure_database = true;

  bool operator==(const Automation&) const = default;
};

struct CustomParameters {
  std::vector<CustomParameter> general;
  std::map<ProcessClass, std::vector<CustomParameter>> by_class;

  bool operator==(const CustomParameters&) const = default;
};

struct ClusterSpec {
  std::string name;
  Version version;
  Database database;
  Tls tls;
  std::map<ProcessClass, std::vector<ProcessSet>> processes;  // `default` is the first of each
  Distribution distribution;
  CustomParameters custom_parameters;
  std::string data_center;
  std::string data_hall;
  std::string log_group;      // empty: the cluster's name
  std::string zone_variable;  // without `$`; empty: FDB_ZONE_ID
  bool dns_in_cluster_file = false;
  bool listen_address = true;  // give fdbserver an explicit listen address
  std::vector<ProcessGroupId> process_groups_to_remove;
  Automation automation;

  bool operator==(const ClusterSpec&) const = default;

  // nullptr when the class or its set is not in the spec.
  [[nodiscard]] const ProcessSet* find_set(ProcessClass process_class, std::string_view name) const;

  // A class's own list, when it is given, even empty, replaces the general one.
  [[nodiscard]] const std::vector<CustomParameter>& effective_custom_parameters(
      ProcessClass process_class) const;

  // What FoundationDB's trace files are grouped by.
  [[nodiscard]] const std::string& effective_log_group() const;

  // The environment variable that holds the zone ID, without `$`.
  [[nodiscard]] std::string_view effective_zone_variable() const;
};

}  // namespace fdbpack::model
