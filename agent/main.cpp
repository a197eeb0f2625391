// SPDX-License-Identifier: Apache-2.0
//
// fdbpack-agent: finds out which of its programs is meant and runs it.
#include "agent/modes.hpp"

#include <string_view>

namespace {

std::string_view base_name(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc > 0 ? base_name(argv[0]) : std::string_view();
  const std::string_view mode = argc > 1 ? argv[1] : std::string_view();
  if (name == "fdb-kubernetes-monitor") return fdbpack::agent::main_of_launcher(argc, argv);
  if (mode == "launcher") return fdbpack::agent::main_of_launcher(argc - 1, argv + 1);
  return fdbpack::agent::main_of_supervisor(argc, argv);
}
