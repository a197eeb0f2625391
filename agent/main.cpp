// SPDX-License-Identifier: Apache-2.0
//
// fdbpack-agent: finds out which of its programs is meant and runs it.
#include "adapters/template_worker/template_worker.hpp"
#include "agent/modes.hpp"

#include <string_view>

int main(int argc, char** argv) {
  using namespace fdbpack::agent;
  const std::string_view path = argc > 0 ? argv[0] : "";
  const std::string_view name = path.substr(path.rfind('/') + 1);
  // A name that is a mode's leaves no choice; any other is this program's own.
  if (name == "sidecar.py") return main_of_sidecar(argc, argv);
  if (name == "fdb-kubernetes-monitor") return main_of_launcher(argc, argv);
  const std::string_view mode = argc > 1 && name != "fdbmonitor" ? argv[1] : "";
  // Our own child, for somebody else's templates.
  if (argc == 2 && mode == fdbpack::adapters::kTemplateWorkerCommand) {
    return fdbpack::adapters::run_template_worker();
  }
  if (mode == "sidecar") return main_of_sidecar(argc - 1, argv + 1);
  if (mode == "launcher") return main_of_launcher(argc - 1, argv + 1);
  return main_of_supervisor(argc, argv);
}
