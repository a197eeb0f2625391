// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/base/base64.hpp"

#include "fdbpack/base/random.hpp"
#include "tests/support/seeds.hpp"

#include <gtest/gtest.h>

namespace fdbpack {
namespace {

TEST(Base64, IsWhatRfc4648Shows) {
  const std::pair<std::string, std::string> examples[] = {
      {"", ""},
      {"f", "Zg=="},
      {"fo", "Zm8="},
      {"foo", "Zm9v"},
      {"foob", "Zm9vYg=="},
      {"fooba", "Zm9vYmE="},
      {"foobar", "Zm9vYmFy"},
      {"\xFB\xFF", "+/8="},
  };
  for (const auto& [bytes, text] : examples) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
}

TEST(Base64, ComesBackAsItWas) {
  for (const auto seed : support::seeds(300)) {
    FDBPACK_TRACE_SEED(seed);
    Random random(seed);
    std::string bytes;
    for (auto count = random.below(100); count > 0; --count)
      bytes += static_cast<char>(random.below(256));
    ASSERT_EQ(from_base64(to_base64(bytes)), bytes);
  }
}

TEST(Base64, RefusesWhatNobodyWrites) {
  for (const char* text : {"A", "AA", "AAA", "A===", "====", "AA=A",
                           "A A=", "Zg==Zg==", "Zh==", "Zm9=", "-_8=", "Zm9v\n"}) {
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace fdbpack
