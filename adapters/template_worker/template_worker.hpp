// SPDX-License-Identifier: Apache-2.0
//
// Renders a template in a short-lived child of the same program.
//
//   parent                                   child: PROGRAM template-worker
//   {"templates", "name", "values"} ─stdin─► sets its own limits (memory, CPU, files, processes),
//   renders Result<std::string>            ◄─stdout─ {"text": ...} or {"error": ...}
//
// A child that crashes, runs out of memory or CPU time, takes too long or answers too much is an
// error that says so. Limits: 256 MiB of memory, 2 s of CPU, 5 s in all, 4 MiB of text.
#pragma once

#include "ports/template_renderer.hpp"

#include <chrono>
#include <string>

namespace fdbpack::adapters {

inline constexpr const char* kTemplateWorkerCommand = "template-worker";

class TemplateWorker final : public ports::TemplateRenderer {
 public:
  // `program` understands the command above; /proc/self/exe is this program.
  explicit TemplateWorker(std::string program = "/proc/self/exe",
                          std::chrono::milliseconds deadline = std::chrono::seconds(5));

  // From now on, for all that is rendered.
  void end_within(std::chrono::milliseconds time);

  Result<std::string> render(const conf::TemplateSet& templates, const std::string& name,
                             const std::string& values_json) override;

 private:
  std::string program_;
  std::chrono::milliseconds deadline_;
  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::time_point::max();
};

// The child's side: reads the request from standard input, answers on standard output, returns the
// exit code.
int run_template_worker();

}  // namespace fdbpack::adapters
