// SPDX-License-Identifier: Apache-2.0
//
// The programs that fdbpack-agent is. Each is a file <mode>_main.cpp, the only kind beside main.cpp
// that sees both loops and adapters; api_front_main.cpp is a part of two of them.
//
//   fdbpack-agent monitor | run   main_of_supervisor     also called as fdbmonitor
//   fdbpack-agent sidecar         main_of_sidecar        also called as sidecar.py
//   fdbpack-agent launcher        main_of_launcher       also called as fdb-kubernetes-monitor
#pragma once

namespace fdbpack::agent {

// As main(): the arguments with the program's name and the mode, and the exit code.
[[nodiscard]] int main_of_supervisor(int argc, char** argv);
// Without the mode: argv[0] is followed by the options.
[[nodiscard]] int main_of_sidecar(int argc, char** argv);
[[nodiscard]] int main_of_launcher(int argc, char** argv);

}  // namespace fdbpack::agent
