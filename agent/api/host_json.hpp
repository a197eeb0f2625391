// SPDX-License-Identifier: Apache-2.0
//
// Parts of the agent's pages: disks, addresses, and what differs from the conf. Each writes members
// of an object that the caller began.
#pragma once

#include "agent/conf_keeper.hpp"
#include "agent/host_watch.hpp"
#include "agent/supervisor.hpp"
#include "fdbpack/wire/json_writer.hpp"

#include <string>

namespace fdbpack::agent {

// "storage": {"measured_at": …, "units": [one for each file system]}
void write_storage(wire::JsonWriter& json, const HostWatch& host);
// "process_groups": {"storage-1": {"addresses": [...], "processes": {...}}}
void write_addresses(wire::JsonWriter& json, const Supervisor& supervisor);
// "accepted", "errors", "processes": {"fdbserver.4500": {"pending": …, "only_running": [...],
// "only_configured": [...]}}; processes that are as they should be are left out.
void write_conf_diff(wire::JsonWriter& json, const ConfKeeper& conf, const Supervisor& supervisor);
// "path", "hash", "accepted", "text"
void write_conf_text(wire::JsonWriter& json, const ConfKeeper& conf);

// "--tls_password=…" does not belong into a page.
[[nodiscard]] std::string without_secret(std::string_view argument);

}  // namespace fdbpack::agent
