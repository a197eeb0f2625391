// SPDX-License-Identifier: Apache-2.0
#include "cli/outcome.hpp"

#include "fdbpack/base/check.hpp"

namespace fdbpack::cli {

ExitCode exit_code_for(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::not_found:
    case ErrorCode::already_exists:
    case ErrorCode::conflict:
    case ErrorCode::precondition:
    case ErrorCode::corrupt:
    case ErrorCode::unsupported:
      return ExitCode::data;
    case ErrorCode::permission_denied:
      return ExitCode::no_input;
    case ErrorCode::unavailable:
    case ErrorCode::timed_out:
      return ExitCode::unavailable;
    case ErrorCode::internal:
      return ExitCode::internal;
  }
  FDBPACK_UNREACHABLE();
}

Outcome failure(ExitCode code, std::string_view message) {
  Outcome outcome;
  outcome.code = code;
  outcome.error = std::string(message) + "\n";
  return outcome;
}

}  // namespace fdbpack::cli
