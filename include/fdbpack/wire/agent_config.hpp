// SPDX-License-Identifier: Apache-2.0
//
// The configuration of `fdbpack-agent run`: the process groups of one host.
//
//   {"binaryDirectory": "/usr/sbin", "user": "foundationdb", "group": "foundationdb",
//    "processGroups": [
//      {"id": "storage-1", "class": "storage", "density": 2, "portSlot": 0,
//       "address": "10.0.0.7", "listenAddress": "10.0.0.7", "tls": false,
//       "clusterFile": "/etc/foundationdb/fdb.cluster", "dataDirectory": "/var/lib/fdb/storage-1",
//       "logDirectory": "/var/log/foundationdb", "logGroup": "", "machine": "db-7", "zone": "db-7",
//       "dataCenter": "", "dataHall": "", "verifyPeers": "",
//       "customParameters": ["knob_disable_posix_kernel_aio = 1"],
//       "settings": {"stopGrace": "30", "oomScoreAdj": "-500", "limitNofile": "65536"}}],
//    "storage": [{"key": "nvme", "path": "/data/nvme"}],
//    "http": {…}}                                                        http_config.hpp
//
// id, class, address, clusterFile and dataDirectory are required; an unknown field is refused. The
// settings are those of model/process_settings.hpp. No two processes may have one port slot of an
// address or one data directory.
#pragma once

#include "fdbpack/conf/group_conf.hpp"
#include "fdbpack/http/service.hpp"
#include "fdbpack/wire/json_value.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fdbpack::wire {

struct ConfiguredGroup {
  std::string id;
  std::string address;
  std::string listen_address;  // empty: as the address
  std::string machine;         // empty: the address
  std::string zone;            // empty: the machine
  conf::GroupConf conf;
  std::vector<std::pair<std::string, std::string>> settings;  // {"stop-grace", "30"}, valid
};

// A place for data on this host, whether or not a process uses it.
struct ConfiguredStorage {
  std::string type = "file";
  std::string key;
  std::string path;
};

struct AgentConfig {
  std::string binary_directory = "/usr/sbin";
  std::string user;
  std::string group;
  std::vector<ConfiguredGroup> groups;
  std::vector<ConfiguredStorage> storage;
  http::ServiceSettings http;
};

// `http`: what is not configured.
[[nodiscard]] Reading<AgentConfig> parse_agent_config(std::string_view text,
                                                      http::ServiceSettings http = {});

}  // namespace fdbpack::wire
