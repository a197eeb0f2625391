// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace fdbpack {

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: this should never happen: %s\n", file, line, condition);
  std::abort();
}

}  // namespace fdbpack
