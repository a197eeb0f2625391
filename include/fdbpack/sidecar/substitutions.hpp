// SPDX-License-Identifier: Apache-2.0
//
// The variables of a monitor conf and their values.
//
//   public_address = $FDB_PUBLIC_IP:4501     ->  public_address = 10.0.0.7:4501
//   $$FDB_ZONE_ID ${FDB_ZONE_ID} $UNKNOWN    ->  $zone1 ${FDB_ZONE_ID} $UNKNOWN
//
// As in sidecar.py a name needs no end: $FDB_POD_IPx is the address and an x. Unlike there, the
// longest name that fits is meant, and what was put in is not searched again.
#pragma once

#include "fdbpack/base/result.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fdbpack::sidecar {

class Substitutions {
 public:
  // A second value of the same name takes the place of the first. No value: the variable of the
  // environment that it stands for is not set.
  void set(std::string_view name, std::optional<std::string> value);

  // The value, or "" when there is none.
  [[nodiscard]] std::string_view value(std::string_view name) const;
  [[nodiscard]] bool has_value(std::string_view name) const;
  // Names without value, in order.
  [[nodiscard]] std::vector<std::string> missing() const;

  [[nodiscard]] std::string apply(std::string_view conf) const;

  // One JSON object in the order of set(), byte for byte as Python's json.dumps writes it: blanks
  // after ',' and ':', nothing but ASCII, and bytes that are not UTF-8 as \udc80 to \udcff.
  [[nodiscard]] std::string to_json() const;

 private:
  using Entry = std::pair<std::string, std::optional<std::string>>;
  [[nodiscard]] const Entry* find(std::string_view name) const;

  std::vector<Entry> entries_;
};

// "\r\n" and "\r" become "\n", as in every text that Python reads.
[[nodiscard]] std::string with_plain_newlines(std::string_view text);

}  // namespace fdbpack::sidecar
