// SPDX-License-Identifier: Apache-2.0
//
// The HTTP service of a program as a member of its configuration:
//
//   "http": {"listen": ["127.0.0.1:4490"], "socket": "/run/fdbpack/agent.sock",
//            "tls": {"certificate": "…", "key": "…", "authority": "…"},
//            "verifyPeers": {"read": "O=FDB", "operate": "CN=ops"},
//            "tokenFiles": {"read": "…", "operate": "…"},
//            "operatorUids": [1000], "operatorGids": [1000], "hostNames": ["db-7"],
//            "limits": {"connections": 256, "idle_ms": 30000}}
//
// Members that are not given leave what was there.
#pragma once

#include "fdbpack/http/service.hpp"
#include "fdbpack/wire/json_reader.hpp"

namespace fdbpack::wire {

void read_http_config(const JsonReader& reader, http::ServiceSettings& settings);

// The body of POST /v1/drain: {"draining": true, "reason": "new disks"}; both may be left out.
struct DrainRequest {
  bool is_draining = true;
  std::string reason;
};
[[nodiscard]] Reading<DrainRequest> parse_drain_request(std::string_view text,
                                                        std::size_t depth_max);

}  // namespace fdbpack::wire
