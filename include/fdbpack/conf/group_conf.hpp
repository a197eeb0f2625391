// SPDX-License-Identifier: Apache-2.0
//
// A process group as it will be run: N fdbserver processes of one class on one disk.
//
//   process i of N      TLS port 4498 + 2(slot + i), other port 4499 + 2(slot + i)
//   N = 1               data in DIR,     process ID is the group's
//   N > 1               data in DIR/i,   process ID is <group>-i
//
// Everything here is independent of the host: what differs between hosts is a variable
// ($FDB_PUBLIC_IP, ...).
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/conf/argument.hpp"
#include "fdbpack/model/cluster_spec.hpp"
#include "fdbpack/model/process_class.hpp"

#include <optional>
#include <string>
#include <vector>

namespace fdbpack::conf {

// Which listeners a process has. While TLS is being switched it has both, TLS first.
struct Listeners {
  bool tls = false;
  bool plain = true;

  bool operator==(const Listeners&) const = default;
};

struct Paths {
  std::string cluster_file = "/var/fdb/data/fdb.cluster";
  std::string seed_cluster_file = "/var/dynamic-conf/fdb.cluster";
  std::string log_directory = "/var/log/fdb-trace-logs";
  std::string data_directory = "/var/fdb/data";

  bool operator==(const Paths&) const = default;
};

struct GroupConf {
  model::ProcessClass process_class = model::ProcessClass::storage;
  int density = 1;
  int port_slot = 0;
  Listeners listeners;
  Paths paths;
  std::string log_group;
  std::string zone_variable = "FDB_ZONE_ID";
  std::string verify_peers;
  std::string data_center;
  std::string data_hall;
  bool has_listen_address = false;
  bool has_dns_name = false;
  std::vector<model::CustomParameter> custom_parameters;

  // Without a connection string there is no database yet, and no process is run.
  bool has_connection_string = true;
  // Numbers the data directory and the process ID at density 1 too, as the operator's unified image
  // does.
  bool is_always_numbered = false;
  // Puts every IP into brackets, as the unified image does; otherwise only IPv6 is, when it is
  // filled in.
  bool brackets_every_ip = false;
  // Takes the address of this family (4 or 6) where a variable lists several.
  std::optional<int> ip_family;
};

// What the spec says about a set of a class; density and listeners may be overridden by the caller.
struct GroupChoice {
  model::ProcessClass process_class = model::ProcessClass::storage;
  std::string set = "default";
  std::optional<int> density;
  std::optional<Listeners> listeners;
};

[[nodiscard]] Result<GroupConf> group_conf(const model::ClusterSpec& spec,
                                           const GroupChoice& choice);

// fdbmonitor-conf-<class>, and -density-<N> behind it for N > 1.
[[nodiscard]] std::string template_name(model::ProcessClass process_class, int density);

// The arguments of a group's processes in the operator's order. Refuses a density below 1 or on a
// class that has none, and a port beyond 65535, naming the process.
[[nodiscard]] Result<std::vector<Argument>> arguments(const GroupConf& group);

}  // namespace fdbpack::conf
