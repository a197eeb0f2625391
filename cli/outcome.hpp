// SPDX-License-Identifier: Apache-2.0
//
// What a command has to say. Commands return it instead of printing, so that tests call them like
// functions; main.cpp prints it.
#pragma once

#include "fdbpack/base/result.hpp"

#include <string>
#include <string_view>

namespace fdbpack::cli {

// As in sysexits.h.
enum class ExitCode {
  ok = 0,
  incomplete = 1,      // understood and answered, but not everything that was asked for fits
  usage = 64,          // the command line is wrong
  data = 65,           // a file that was given is wrong
  no_input = 66,       // a file that was given cannot be read
  unavailable = 69,    // something we talk to does not answer
  internal = 70,       // our own fault
  configuration = 78,  // what an administrator set up for fdbpack is wrong, e.g. a template
};

struct Outcome {
  ExitCode code = ExitCode::ok;
  std::string out;    // for standard output, exactly
  std::string error;  // for standard error: lines without "fdbpack: " in front
};

// For errors that are not about a particular kind of input.
[[nodiscard]] ExitCode exit_code_for(ErrorCode code);

[[nodiscard]] Outcome failure(ExitCode code, std::string_view message);

}  // namespace fdbpack::cli
