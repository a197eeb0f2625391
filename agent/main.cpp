// SPDX-License-Identifier: Apache-2.0
//
// fdbpack-agent: finds out which of its programs is meant and runs it.
#include "agent/modes.hpp"

#include <string_view>

int main(int argc, char** argv) {
  const std::string_view path = argc > 0 ? argv[0] : "";
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const std::string_view word = argc > 1 ? argv[1] : "";
  // A name that is a mode's leaves no choice; any other is this program's own.
  if (name == "sidecar.py") return fdbpack::agent::main_of_sidecar(argc, argv);
  if (name != "fdbmonitor" && word == "sidecar") {
    return fdbpack::agent::main_of_sidecar(argc - 1, argv + 1);
  }
  return fdbpack::agent::main_of_supervisor(argc, argv);
}
