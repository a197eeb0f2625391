// SPDX-License-Identifier: Apache-2.0
#include "agent/rendered_conf.hpp"

#include "fdbpack/base/text.hpp"
#include "fdbpack/conf/document.hpp"
#include "fdbpack/conf/environment.hpp"
#include "fdbpack/conf/group_render.hpp"
#include "fdbpack/supervise/conf_change.hpp"
#include "ports/template_folder.hpp"

namespace fdbpack::agent {
namespace {

conf::Environment environment_of(const wire::AgentConfig& config,
                                 const wire::ConfiguredGroup& group) {
  const std::string machine = group.machine.empty() ? group.address : group.machine;
  return {
      {"BINARY_DIR", config.binary_directory},
      {"FDB_INSTANCE_ID", group.id},
      {"FDB_MACHINE_ID", machine},
      {"FDB_POD_IP", group.listen_address.empty() ? group.address : group.listen_address},
      {"FDB_PUBLIC_IP", group.address},
      {group.conf.zone_variable, group.zone.empty() ? machine : group.zone},
  };
}

Result<std::string> render_by(const TemplateFolder& folder, const conf::TemplateSet& templates,
                              const conf::GroupConf& group) {
  return conf::render_by(
      templates, folder.path, group,
      [&folder](const auto& set, const std::string& file, const std::string& values) {
        return folder.renderer.render(set, file, values);
      });
}

// Adds a group's sections to the whole, each under the name of its process.
void take_over(conf::Document& whole, conf::Document part, const wire::ConfiguredGroup& group) {
  for (auto& section : part.sections) {
    const auto dot = section.name.rfind('.');
    if (dot == std::string::npos) {
      if (whole.find(section.name) == nullptr) whole.sections.push_back(std::move(section));
      continue;
    }
    const std::string number = section.name.substr(dot + 1);
    section.name = section.name.substr(0, dot + 1) + group.id;
    if (group.conf.density > 1) section.name += "-" + number;
    for (const auto& [name, value] : group.settings)
      section.entries.push_back({"fdbpack-" + name, value, {}});
    whole.sections.push_back(std::move(section));
  }
}

}  // namespace

Result<std::string> render_conf(const wire::AgentConfig& config, const TemplateFolder* folder) {
  conf::TemplateSet templates;
  if (folder != nullptr) {
    FDBPACK_TRY(templates, ports::read_templates(folder->files, folder->path));
  }
  conf::Document whole;
  if (!config.user.empty() || !config.group.empty()) {
    conf::Section section{"fdbmonitor", {}, {}};
    if (!config.user.empty()) section.entries.push_back({"user", config.user, {}});
    if (!config.group.empty()) section.entries.push_back({"group", config.group, {}});
    whole.sections.push_back(std::move(section));
  }
  for (const auto& group : config.groups) {
    const std::string who = "process group " + group.id;
    const auto rendered = folder == nullptr ? conf::render_builtin(group.conf)
                                            : render_by(*folder, templates, group.conf);
    if (!rendered) return fail(with_context(rendered.error(), who));
    const auto filled = conf::fill_variables(*rendered, environment_of(config, group));
    if (!filled) return fail(with_context(filled.error(), who));
    take_over(whole, conf::parse(*filled).document, group);
  }
  std::string text = conf::print(whole);
  // Whoever lists no group means it. The JSON was complete, and so is what is made of it: with a
  // last line of its own it is never the beginning of another conf, which would be refused.
  text += config.groups.empty() ? std::string(supervise::kNoProcessesMarker) : "# complete";
  text += "\n";
  return text;
}

Result<std::string> render_conf(std::string_view config_text, const TemplateFolder* folder) {
  const auto config = wire::parse_agent_config(config_text);
  if (!config) {
    return fail(ErrorCode::invalid_argument,
                text::replace_all(wire::to_string(config.error()), "\n", "; "));
  }
  return render_conf(*config, folder);
}

}  // namespace fdbpack::agent
