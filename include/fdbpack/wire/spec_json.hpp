// SPDX-License-Identifier: Apache-2.0
//
// A cluster's spec as JSON. examples/sample-cluster.json shows every field, docs/spec.md explains
// them.
//
// Reading is strict: an unknown field, a wrong type, a value out of its range or a combination that
// cannot work is refused, and all that is wrong is told at once. Only `name`, `version`,
// `processes` and each class's `count` must be given; other fields have the defaults of
// model/cluster_spec.hpp.
//
// A class's own object is its set `default`. An entry of `extra` takes over every field that it
// does not give: `resources` field by field, `storageUnit` and `hosts` as a whole. null says "no
// demand", also against inheritance.
#pragma once

#include "fdbpack/base/result.hpp"
#include "fdbpack/model/cluster_spec.hpp"
#include "fdbpack/wire/json_value.hpp"

#include <string>
#include <string_view>

namespace fdbpack::wire {

// The spec, or every violation with its path.
[[nodiscard]] Reading<model::ClusterSpec> check_cluster_spec(std::string_view json);

// The same with the violations as lines of one error message.
[[nodiscard]] Result<model::ClusterSpec> read_cluster_spec(std::string_view json);

// Indented JSON with every field in a fixed order; reading it gives the same spec.
[[nodiscard]] std::string write_cluster_spec(const model::ClusterSpec& spec);

}  // namespace fdbpack::wire
