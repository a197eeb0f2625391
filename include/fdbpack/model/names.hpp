// SPDX-License-Identifier: Apache-2.0
//
// The forms of names that occur in several types. Each is a question about the whole text.
#pragma once

#include <cstddef>
#include <string_view>

namespace fdbpack::model {

// Lower-case letters, digits and `-`, 1 to 63 of them, no `-` at either end: names of clusters and
// sets.
[[nodiscard]] bool is_dns_label(std::string_view text);

// Labels with dots between them, upper case and `_` allowed as FoundationDB does, one dot at the
// end allowed, 253 characters at most. The last label is not a number, so a mistyped IPv4 address
// is not taken for a name.
[[nodiscard]] bool is_host_name(std::string_view text);

// A letter or `_`, then letters, digits and `_`: names of environment variables.
[[nodiscard]] bool is_variable_name(std::string_view text);

// As in Kubernetes: letters, digits, `-`, `_`, `.`, alphanumeric at both ends, 63 at most,
// optionally behind `dns.name/`. A value may also be empty and has no prefix.
[[nodiscard]] bool is_label_key(std::string_view text);
[[nodiscard]] bool is_label_value(std::string_view text);

// No control characters, no blanks at either end and not too long: the value of a `key = value`
// line comes back as it was.
[[nodiscard]] bool is_plain_line(std::string_view text, std::size_t bytes_max);

}  // namespace fdbpack::model
