// SPDX-License-Identifier: Apache-2.0
//
// Rendering templates that somebody else wrote. The engine can crash, loop or eat memory on a bad
// one, so it happens away from the caller, and every such end is an error that says what happened.
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/conf/template.hpp"

#include <string>

namespace fdbpack::ports {

class TemplateRenderer {
 public:
  virtual ~TemplateRenderer() = default;

  // As conf::render().
  [[nodiscard]] virtual Result<std::string> render(const conf::TemplateSet& templates,
                                                   const std::string& name,
                                                   const std::string& values_json) = 0;
};

}  // namespace fdbpack::ports
