// SPDX-License-Identifier: Apache-2.0
#include "tests/support/places.hpp"

namespace fdbpack::test {

std::string source_file(const std::string& name) {
  return FDBPACK_SOURCE_DIR "/" + name;
}

std::string program_file(const std::string& name) {
  return FDBPACK_BIN_DIR "/" + name;
}

}  // namespace fdbpack::test
