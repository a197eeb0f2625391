// SPDX-License-Identifier: Apache-2.0
//
// One argument of fdbserver before it is known on which host and for which process number it will
// be used.
//
//   public_address = $FDB_PUBLIC_IP : 4499+2n
//   key              Variable       Text ProcessNumber
//
// The fdbmonitor conf, fdb-kubernetes-monitor's JSON and the command line we expect to see in the
// database's status are all made from the same list of arguments (group_conf.hpp), so that they
// cannot differ.
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/conf/environment.hpp"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace fdbpack::conf {

struct Text {
  std::string text;
  bool operator==(const Text&) const = default;
};

// The value of an environment variable of the host.
struct Variable {
  std::string name;
  bool operator==(const Variable&) const = default;
};

// n * multiplier + offset, where n counts the processes of a group from 1.
struct ProcessNumber {
  int multiplier = 1;
  int offset = 0;
  bool operator==(const ProcessNumber&) const = default;
};

// The first address of one family (4 or 6) in a variable that lists several.
struct IpOfFamily {
  std::string name;
  int family = 4;
  bool operator==(const IpOfFamily&) const = default;
};

using Part = std::variant<Text, Variable, ProcessNumber, IpOfFamily>;

struct Argument {
  std::string key;
  std::vector<Part> value;
  bool is_custom = false;  // given by the administrator

  bool operator==(const Argument&) const = default;
};

// The value for process `number` with its variables left in: "$FDB_PUBLIC_IP:4501".
[[nodiscard]] std::string value_text(const Argument& argument, int number);

// The value with its variables filled in. A variable that has no value is an error that names it.
[[nodiscard]] Result<std::string> value_for(const Argument& argument, int number,
                                            const Environment& environment);

// The first address of `family` in a comma-separated list; what cannot be read is passed over.
[[nodiscard]] Result<std::string> pick_ip(std::string_view list, int family);

}  // namespace fdbpack::conf
