// SPDX-License-Identifier: Apache-2.0
//
// What passes between a program and its template worker (adapters/template_worker).
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/conf/template.hpp"

#include <string>
#include <string_view>

namespace fdbpack::wire {

struct RenderRequest {
  conf::TemplateSet templates;
  std::string name;
  std::string values_json;
};

[[nodiscard]] std::string write_render_request(const RenderRequest& request);
[[nodiscard]] Result<RenderRequest> read_render_request(std::string_view json);

// The answer is the text, or the error of rendering it.
[[nodiscard]] std::string write_render_answer(const Result<std::string>& answer);
[[nodiscard]] Result<std::string> read_render_answer(std::string_view json);

}  // namespace fdbpack::wire
