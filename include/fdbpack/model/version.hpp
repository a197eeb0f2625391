// SPDX-License-Identifier: Apache-2.0
//
// A FoundationDB version, `7.1.61` or `7.1.0-rc2`. A release is newer than each of its release
// candidates.
#pragma once

#include "fdbpack/base/result.hpp"

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace fdbpack::model {

struct Version {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::uint32_t patch = 0;
  std::uint32_t release_candidate = 0;  // 0 means a release

  bool operator==(const Version&) const = default;
  [[nodiscard]] std::strong_ordering operator<=>(const Version& other) const;

  [[nodiscard]] bool is_at_least(const Version& other) const { return *this >= other; }
  // Whether processes of both versions can form one cluster: patches can, release candidates only
  // with themselves.
  [[nodiscard]] bool is_protocol_compatible(const Version& other) const;

  [[nodiscard]] Version next_major() const { return {major + 1, 0, 0, 0}; }
  [[nodiscard]] Version next_minor() const { return {major, minor + 1, 0, 0}; }
  [[nodiscard]] Version next_patch() const { return {major, minor, patch + 1, 0}; }
};

// The whole text is a version.
[[nodiscard]] Result<Version> parse_version(std::string_view text);

// The first version anywhere in the text ("prerelease-6.2.11" has 6.2.11), as
// fdb-kubernetes-monitor reads it.
[[nodiscard]] Result<Version> find_version(std::string_view text);

[[nodiscard]] std::string to_string(const Version& version);

}  // namespace fdbpack::model
