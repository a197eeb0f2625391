// SPDX-License-Identifier: Apache-2.0
//
// How clients and servers find a database: `description:id@address,address`, alone or in a file.
//
//   # written by fdbcli          comments run to the end of the line
//   sample_cluster:aB3@10.0.0.7:4501,10.0.0.8:4501
//
// The addresses are those of the database coordinators.
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/model/address.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace fdbpack::model {

struct ConnectionString {
  std::string description;  // letters, digits and `_`
  std::string id;           // letters and digits; changes with every change of coordinators
  std::vector<Address> coordinators;

  bool operator==(const ConnectionString&) const = default;
};

[[nodiscard]] Result<ConnectionString> parse_connection_string(std::string_view text);
[[nodiscard]] std::string to_string(const ConnectionString& connection);

// As FoundationDB reads the file: comments and all blanks are dropped, and no coordinator may be
// there twice.
[[nodiscard]] Result<ConnectionString> parse_cluster_file(std::string_view text);
[[nodiscard]] std::string print_cluster_file(const ConnectionString& connection);

// A cluster's name as a description: what a description may not hold becomes `_`.
[[nodiscard]] std::string sanitize_description(std::string_view name);

}  // namespace fdbpack::model
