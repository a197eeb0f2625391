// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/model/cluster_spec.hpp"

namespace fdbpack::model {

const ProcessSet* ClusterSpec::find_set(ProcessClass process_class,
                                        std::string_view set_name) const {
  const auto sets = processes.find(process_class);
  if (sets == processes.end()) return nullptr;
  for (const auto& set : sets->second) {
    if (set.name == set_name) return &set;
  }
  return nullptr;
}

const std::vector<CustomParameter>& ClusterSpec::effective_custom_parameters(
    ProcessClass process_class) const {
  const auto own = custom_parameters.by_class.find(process_class);
  return own == custom_parameters.by_class.end() ? custom_parameters.general : own->second;
}

const std::string& ClusterSpec::effective_log_group() const {
  return log_group.empty() ? name : log_group;
}

std::string_view ClusterSpec::effective_zone_variable() const {
  return zone_variable.empty() ? std::string_view("FDB_ZONE_ID") : zone_variable;
}

}  // namespace fdbpack::model
