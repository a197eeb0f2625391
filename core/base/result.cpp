// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/base/result.hpp"

#include "fdbpack/base/check.hpp"

namespace fdbpack {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid argument";
    case ErrorCode::not_found:
      return "not found";
    case ErrorCode::already_exists:
      return "already exists";
    case ErrorCode::conflict:
      return "conflict";
    case ErrorCode::precondition:
      return "precondition";
    case ErrorCode::unavailable:
      return "unavailable";
    case ErrorCode::timed_out:
      return "timed out";
    case ErrorCode::permission_denied:
      return "permission denied";
    case ErrorCode::corrupt:
      return "corrupt";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::internal:
      return "internal";
  }
  FDBPACK_UNREACHABLE();
}

Error with_context(Error error, std::string_view context) {
  error.message.insert(0, std::string(context) + ": ");
  return error;
}

}  // namespace fdbpack
