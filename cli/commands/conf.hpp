// SPDX-License-Identifier: Apache-2.0
//
// fdbpack conf check FILE, fdbpack conf argv FILE: what fdbmonitor would make of a conf.
#pragma once

#include "cli/outcome.hpp"
#include "fdbpack/conf/monitor_conf.hpp"
#include "ports/file_reader.hpp"

#include <string>

namespace fdbpack::cli {

struct ConfOptions {
  std::string file;
  conf::Dialect dialect = conf::Dialect::v7_3;
  bool is_json = false;
};

// Every error and warning with line and column; fails when there is an error.
[[nodiscard]] Outcome conf_check(const ConfOptions& options, ports::FileReader& files);

// One command line per process, as fdbmonitor would run it. As JSON the errors are part of the
// answer; as text they go to standard error and make the command fail.
[[nodiscard]] Outcome conf_argv(const ConfOptions& options, ports::FileReader& files);

}  // namespace fdbpack::cli
