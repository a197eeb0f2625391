// SPDX-License-Identifier: Apache-2.0
//
// fdbpack-agent: finds out which of its programs is meant and runs it.
#include "agent/modes.hpp"

#include <string_view>

namespace {

// The program's own name when it is called by that of a mode, or the word behind it.
std::string_view mode_of(int argc, char** argv) {
  const std::string_view path = argc > 0 ? argv[0] : "";
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const bool is_known = name == "sidecar.py";
  return is_known || argc < 2 ? name : argv[1];
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = mode_of(argc, argv);
  if (mode == "sidecar.py") return fdbpack::agent::main_of_sidecar(argc, argv);
  if (mode == "sidecar") return fdbpack::agent::main_of_sidecar(argc - 1, argv + 1);
  return fdbpack::agent::main_of_supervisor(argc, argv);
}
