// SPDX-License-Identifier: Apache-2.0
//
// The templates of an administrator's folder, in place of those compiled in or beside them.
#pragma once

#include "fdbpack/conf/template.hpp"
#include "ports/file_reader.hpp"

#include <string>
#include <utility>

namespace fdbpack::ports {

[[nodiscard]] inline Result<conf::TemplateSet> read_templates(FileReader& files,
                                                              const std::string& folder) {
  FDBPACK_TRY(const auto names, files.list(folder));
  conf::TemplateSet templates = conf::builtin_templates();
  for (const std::string& name : names) {
    if (!name.ends_with(conf::kTemplateSuffix)) continue;
    FDBPACK_TRY(auto text, files.read(folder + "/" + name));
    templates.insert_or_assign(name, std::move(text));
  }
  return templates;
}

}  // namespace fdbpack::ports
