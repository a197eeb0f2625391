// SPDX-License-Identifier: Apache-2.0
//
// Templates of confs: text with inja statements, and the values they may use.
//
//   name of a conf                     looked for, in this order
//   fdbmonitor-conf-storage            fdbmonitor-conf-storage.inja, fdbmonitor-conf.inja
//   fdbmonitor-conf-storage-density-2  fdbmonitor-conf-storage-density-2.inja, and then as above
//
// A template may include others of the same set by name and nothing else: no file is ever opened.
// inja can bring the process down on some malformed templates, so templates that we did not write
// are rendered by a child process (ports/template_renderer.hpp); render() itself is for the ones
// compiled in, and for that child.
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/conf/group_conf.hpp"

#include <map>
#include <string>
#include <string_view>

namespace fdbpack::conf {

// File name to text.
using TemplateSet = std::map<std::string, std::string, std::less<>>;

inline constexpr std::string_view kTemplateSuffix = ".inja";

// The templates of the folder templates/, compiled in.
[[nodiscard]] const TemplateSet& builtin_templates();

// The file of `templates` that renders this conf.
[[nodiscard]] Result<std::string> choose_template(const TemplateSet& templates,
                                                  model::ProcessClass process_class, int density);

// What a template can use, as one JSON document; docs/templates.md describes it.
[[nodiscard]] Result<std::string> template_values(const GroupConf& group);

// The text of `name` with `values_json` filled in. An error reads "FILE:LINE:COLUMN: REASON".
[[nodiscard]] Result<std::string> render(const TemplateSet& templates, const std::string& name,
                                         const std::string& values_json);

}  // namespace fdbpack::conf
