// SPDX-License-Identifier: Apache-2.0
//
// The command line of placement: place, explain, balance, evacuate, capacity, waves, affinity and
// fleet.
#pragma once

#include "cli/outcome.hpp"
#include "cli/screen.hpp"
#include "ports/file_reader.hpp"

#include <functional>

namespace CLI {
class App;
}

namespace fdbpack::cli {

// Adds the commands; the one that is chosen is put into `chosen`. All of them must outlive the run.
void add_placement(CLI::App& app, ports::FileReader& files, const Screen& screen,
                   std::function<Outcome()>& chosen);

}  // namespace fdbpack::cli
