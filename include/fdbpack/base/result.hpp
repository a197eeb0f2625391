// SPDX-License-Identifier: Apache-2.0
//
// How a call that can fail says so.
//
//   Result<T>   a T, or an Error{code, message}
//   Status      nothing, or an Error
//
// A message is one sentence in lower case without a full stop, and names the thing it is about.
// Context is put in front on the way up: "reading /etc/fdbpack/agent.json: permission denied".
// Programmer errors are not Errors; they are FDBPACK_CHECKs (check.hpp).
#pragma once

#include <tl/expected.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace fdbpack {

enum class ErrorCode {
  invalid_argument,
  not_found,
  already_exists,
  conflict,
  precondition,
  unavailable,
  timed_out,
  permission_denied,
  corrupt,
  unsupported,
  internal,
};

[[nodiscard]] std::string_view to_string(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;

  bool operator==(const Error&) const = default;
};

// Derived, not an alias, so that a discarded result is a warning.
template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

using Status = Result<void>;

[[nodiscard]] inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

[[nodiscard]] inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

// The same error with `context: ` in front of its message.
[[nodiscard]] Error with_context(Error error, std::string_view context);

}  // namespace fdbpack

#define FDBPACK_CONCAT_INNER(a, b) a##b
#define FDBPACK_CONCAT(a, b) FDBPACK_CONCAT_INNER(a, b)

// FDBPACK_TRY(auto x, f());     x = the value of f(), or return its error.
// FDBPACK_CO_TRY is the same inside a coroutine. Name the arguments of an awaited call first
// (docs/coroutines.md).
#define FDBPACK_TRY(declaration, expression) \
  FDBPACK_TRY_IMPL(FDBPACK_CONCAT(fdbpack_try_, __COUNTER__), declaration, expression, return )
#define FDBPACK_CO_TRY(declaration, expression) \
  FDBPACK_TRY_IMPL(FDBPACK_CONCAT(fdbpack_try_, __COUNTER__), declaration, expression, co_return )
#define FDBPACK_TRY_IMPL(name, declaration, expression, leave)                  \
  auto name = (expression);                                                     \
  if (!name) leave ::tl::unexpected<::fdbpack::Error>(std::move(name).error()); \
  declaration = *std::move(name)

// FDBPACK_TRY_VOID(f());        go on, or return f()'s error.
#define FDBPACK_TRY_VOID(expression)                                                \
  do {                                                                              \
    if (auto fdbpack_status = (expression); !fdbpack_status) {                      \
      return ::tl::unexpected<::fdbpack::Error>(std::move(fdbpack_status).error()); \
    }                                                                               \
  } while (false)
