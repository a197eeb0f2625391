// SPDX-License-Identifier: Apache-2.0
//
// An argument of fdbserver that the administrator adds: `knob_disable_posix_kernel_aio = 1`. The
// first `=` divides, so a value may hold more of them; blanks around both sides do not count.
//
// A list is refused as a whole when one entry would silently override what fdbpack itself sets, or
// what fdbmonitor keeps for itself. fdbserver takes `-` for `_` and ignores case in localities, so
// names are compared that way.
#pragma once

#include "fdbpack/base/result.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fdbpack::model {

inline constexpr std::size_t kCustomParametersMax = 100;
inline constexpr std::size_t kCustomParameterCharactersMax = 100;

struct CustomParameter {
  std::string name;
  std::string value;

  bool operator==(const CustomParameter&) const = default;
};

// Lower case, `_` for `-`: equal for two spellings of one parameter.
[[nodiscard]] std::string canonical_parameter_name(std::string_view name);

struct ParameterViolation {
  std::optional<std::size_t> index;  // nothing when it is about the list
  std::string message;
};

struct ParsedParameters {
  std::vector<CustomParameter> parameters;     // those that could be read, in the given order
  std::vector<ParameterViolation> violations;  // in the given order; the list is good when empty
};

// One entry on its own: its form, and that it is nobody else's key.
[[nodiscard]] Result<CustomParameter> parse_custom_parameter(std::string_view text);
[[nodiscard]] ParsedParameters parse_custom_parameters(std::span<const std::string> entries);

// `name = value`, or `name=value` when only that stays within the limit.
[[nodiscard]] std::string to_string(const CustomParameter& parameter);

}  // namespace fdbpack::model
