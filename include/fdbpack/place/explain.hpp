// SPDX-License-Identifier: Apache-2.0
//
// Explanations in prose, one sentence per line. The same input gives the same text.
//
//   storage-7 goes to db-3: set default of sample, storage-1, file:nvme, port slot 0
//   fault domains: storage-0 has 2, storage-1 has 1; each gets 1 to 2
//   db-3 wins by utilisation: 0 violations, spread 0, utilisation 0.620000, storage -0.100000
//   runner-up db-4: 0 violations, spread 0, utilisation 0.710000, storage +0.010000
//   refused: 1 of 3 hosts
//     db-1: storage_room: disk of 15360 MiB does not fit: file:nvme has room for 10240 MiB
#pragma once

#include "fdbpack/place/explanation.hpp"
#include "fdbpack/place/plan.hpp"

#include <string>
#include <vector>

namespace fdbpack::place {

// A term with its name and its value as people read it.
struct NamedTerm {
  std::string name;
  double value = 0;
};
[[nodiscard]] std::vector<NamedTerm> named_terms(const Terms& terms, bool has_exact);

// `refused_max`: how many refused hosts are listed one by one; 0: they are only counted, per
// constraint.
[[nodiscard]] std::vector<std::string> explain_text(const PlacementState& state,
                                                    const Explanation& why,
                                                    std::size_t refused_max = SIZE_MAX);
// "2 by cpu, 1 by storage_room"
[[nodiscard]] std::string explain_refusals(const std::vector<RefusedHost>& refused);
// The lines about them, the first `refused_max` hosts one by one.
void add_refused(const PlacementState& state, const Want& want, int domain,
                 const std::vector<RefusedHost>& refused, std::size_t refused_max,
                 std::vector<std::string>& out);
[[nodiscard]] std::string headline(const NewGroup& group);

}  // namespace fdbpack::place
