// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/cluster/process_group.hpp"

#include <algorithm>

namespace fdbpack::cluster {

std::vector<std::string> addresses_after(const std::vector<std::string>& known,
                                         const std::vector<std::string>& seen, bool keeps_old) {
  if (seen.empty()) return known;
  if (!keeps_old) return seen;
  std::vector<std::string> all;
  for (const std::string& address : known) {
    if (std::find(seen.begin(), seen.end(), address) == seen.end()) all.push_back(address);
  }
  all.insert(all.end(), seen.begin(), seen.end());  // the current ones are the last
  return all;
}

}  // namespace fdbpack::cluster
