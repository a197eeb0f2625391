// SPDX-License-Identifier: Apache-2.0
//
// Pod affinity as the Kubernetes API has it. A preferred term is wrapped and carries a weight from
// 1 to 100; a required term is the bare term, and a weight beside it would be refused.
#include "fdbpack/wire/place_json.hpp"

namespace fdbpack::wire {
namespace {

using Object = JsonValue::Object;
using Array = JsonValue::Array;
using place::PodPlacement;

JsonValue expression(const char* key, const char* op, const std::string& value) {
  Object out{{"key", key}, {"operator", op}};
  if (!value.empty()) out.emplace_back("values", Array{value});
  return out;
}

JsonValue preferred(std::int64_t weight, JsonValue term) {
  return Object{{"preferredDuringSchedulingIgnoredDuringExecution",
                 Array{Object{{"weight", weight}, {"podAffinityTerm", std::move(term)}}}}};
}

JsonValue together(const PodPlacement& pod) {
  return Object{
      {"labelSelector", Object{{"matchLabels", Object{{place::kDistributionKey, pod.zone},
                                                      {place::kClusterNameLabel, pod.cluster}}}}},
      {"topologyKey", pod.topology_key}};
}

// NotIn also selects pods without the label, such as those from before packing; Exists leaves them
// out.
JsonValue apart(const PodPlacement& pod) {
  Array expressions;
  if (pod.has_domains) {
    expressions.push_back(expression(place::kDistributionKey, "Exists", ""));
    expressions.push_back(expression(place::kDistributionKey, "NotIn", pod.zone));
  }
  expressions.push_back(expression(place::kClusterNameLabel, "In", pod.cluster));
  expressions.push_back(expression(place::kProcessClassLabel, "In", pod.process_class));
  return Object{{"labelSelector", Object{{"matchExpressions", std::move(expressions)}}},
                {"topologyKey", pod.topology_key}};
}

}  // namespace

JsonValue to_json(const PodPlacement& pod) {
  Object labels{{place::kClusterNameLabel, pod.cluster},
                {place::kProcessClassLabel, pod.process_class}};
  Object affinity;
  if (pod.has_domains) {
    labels.insert(labels.begin(), {place::kDistributionKey, pod.zone});
    affinity.emplace_back("podAffinity", preferred(1, together(pod)));
  }
  if (pod.has_domains && pod.is_required) {
    affinity.emplace_back(
        "podAntiAffinity",
        Object{{"requiredDuringSchedulingIgnoredDuringExecution", Array{apart(pod)}}});
  } else {
    affinity.emplace_back("podAntiAffinity", preferred(pod.has_domains ? 100 : 1, apart(pod)));
  }
  return Object{{"labels", std::move(labels)},
                {"env", Array{Object{{"name", "FDB_ZONE_ID"}, {"value", pod.zone}}}},
                {"affinity", std::move(affinity)}};
}

}  // namespace fdbpack::wire
