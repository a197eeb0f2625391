// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/base/result.hpp"

#include <gtest/gtest.h>

namespace fdbpack {
namespace {

Result<int> half(int value) {
  if (value % 2 != 0) return fail(ErrorCode::invalid_argument, "odd");
  return value / 2;
}

Result<int> quarter(int value) {
  FDBPACK_TRY(const int once, half(value));
  FDBPACK_TRY(const int twice, half(once));
  return twice;
}

Status check_even(int value) {
  FDBPACK_TRY_VOID(half(value));
  return {};
}

TEST(Result, TryPassesValuesOnAndReturnsTheFirstError) {
  EXPECT_EQ(quarter(8).value(), 2);
  EXPECT_EQ(quarter(6).error(), (Error{ErrorCode::invalid_argument, "odd"}));
  EXPECT_TRUE(check_even(2).has_value());
  EXPECT_FALSE(check_even(3).has_value());
}

TEST(Result, ContextGoesInFront) {
  const Error error = with_context({ErrorCode::not_found, "no such file"}, "reading a.json");
  EXPECT_EQ(error.message, "reading a.json: no such file");
  EXPECT_EQ(error.code, ErrorCode::not_found);
}

}  // namespace
}  // namespace fdbpack
