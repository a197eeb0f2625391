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
#include "ports/file_reader.hpp"
#include "ports/template_renderer.hpp"

#include <string>
#include <string_view>

namespace fdbpack::agent {

// Templates of an administrator. They are read anew for every configuration.
struct TemplateFolder {
  std::string path;
  ports::FileReader& files;
  ports::TemplateRenderer& renderer;
};

// `folder`: none means the templates compiled in.
[[nodiscard]] Result<std::string> render_conf(const wire::AgentConfig& config,
                                              const TemplateFolder* folder = nullptr);
// From the text of the configuration.
[[nodiscard]] Result<std::string> render_conf(std::string_view config_text,
                                              const TemplateFolder* folder = nullptr);

}  // namespace fdbpack::agent
