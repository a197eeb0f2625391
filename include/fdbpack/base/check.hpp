// SPDX-License-Identifier: Apache-2.0
//
// FDBPACK_CHECK(condition): what must hold if this program is right. On in every build. A failed
// check prints the place and aborts: the service manager starts the agent anew, and the database
// processes live on.
#pragma once

namespace fdbpack {
[[noreturn]] void check_failed(const char* condition, const char* file, int line);
}

#define FDBPACK_CHECK(condition) \
  (static_cast<bool>(condition) ? void(0) : ::fdbpack::check_failed(#condition, __FILE__, __LINE__))
#define FDBPACK_UNREACHABLE() ::fdbpack::check_failed("unreachable", __FILE__, __LINE__)
