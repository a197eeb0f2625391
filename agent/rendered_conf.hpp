// SPDX-License-Identifier: Apache-2.0
//
// The conf of a host from its configuration: each group's conf from the templates, with the host's
// values filled in, all in one document. Sections are named after the processes:
//
//   storage-1 at density 1    [fdbserver.storage-1]
//   storage-1 at density 2    [fdbserver.storage-1-1]  [fdbserver.storage-1-2]
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/wire/agent_config.hpp"

#include <string>
#include <string_view>

namespace fdbpack::agent {

[[nodiscard]] Result<std::string> render_conf(const wire::AgentConfig& config);
// From the text of the configuration.
[[nodiscard]] Result<std::string> render_conf(std::string_view config_text);

}  // namespace fdbpack::agent
