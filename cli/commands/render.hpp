// SPDX-License-Identifier: Apache-2.0
//
// fdbpack render: the conf of a process group, as text or as command lines.
//
//   conf           fdbmonitor's conf; $FDB_… stays in unless an env file is given
//   argv           the command lines fdbmonitor would run
//   unified-json   fdb-kubernetes-monitor's configuration
//   unified-argv   the command lines fdb-kubernetes-monitor would run
#pragma once

#include "cli/outcome.hpp"
#include "fdbpack/conf/group_conf.hpp"
#include "ports/file_reader.hpp"
#include "ports/template_renderer.hpp"

#include <optional>
#include <string>

namespace fdbpack::cli {

enum class RenderFormat { conf, argv, unified_json, unified_argv };

struct RenderOptions {
  std::string spec_file;
  std::string process_class;
  std::string set = "default";
  std::optional<int> density;
  std::optional<conf::Listeners> listeners;
  std::string env_file;
  std::string process_group;
  std::string templates_directory;
  RenderFormat format = RenderFormat::conf;
  int port_slot = 0;
  std::optional<int> ip_family;
  // Numbers data directories and process IDs at density 1 too. The operator does so for pods of its
  // unified image, and does not in a unified configuration that it makes while a cluster is still
  // on the split image; so the default is off, but on for unified-argv.
  std::optional<bool> is_always_numbered;
  bool has_connection_string = true;
};

[[nodiscard]] Outcome render(const RenderOptions& options, ports::FileReader& files,
                             ports::TemplateRenderer& templates);

}  // namespace fdbpack::cli
