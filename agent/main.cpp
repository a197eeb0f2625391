// SPDX-License-Identifier: Apache-2.0
//
// fdbpack-agent: finds out which of its programs is meant and runs it.
#include "agent/modes.hpp"

int main(int argc, char** argv) {
  return fdbpack::agent::main_of_supervisor(argc, argv);
}
