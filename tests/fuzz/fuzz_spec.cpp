// SPDX-License-Identifier: Apache-2.0
//
// Goal: no text harms the spec reader, and what it reads survives being written.
// Method: arbitrary bytes are read; a spec that comes out is written and read again and must be the
// same.
#include "fdbpack/base/check.hpp"
#include "fdbpack/wire/spec_json.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fdbpack;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto spec = wire::check_cluster_spec(text);
  if (!spec) {
    FDBPACK_CHECK(!spec.error().empty());
    return 0;
  }
  const std::string written = wire::write_cluster_spec(*spec);
  const auto again = wire::check_cluster_spec(written);
  FDBPACK_CHECK(again.has_value() && *again == *spec);
  FDBPACK_CHECK(wire::write_cluster_spec(*again) == written);
  return 0;
}
