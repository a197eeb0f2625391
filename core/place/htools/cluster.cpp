// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/place/htools/cluster.hpp"

#include <algorithm>
#include <array>

namespace fdbpack::place::htools {
namespace {

constexpr std::array<std::string_view, 9> kTemplates = {
    "diskless", "file", "sharedfile", "plain", "blockdev", "drbd", "rbd", "ext", "gluster"};
}

std::optional<Template> parse_template(std::string_view name) {
  const auto found = std::find(kTemplates.begin(), kTemplates.end(), name);
  if (found == kTemplates.end()) return std::nullopt;
  return static_cast<Template>(found - kTemplates.begin());
}

std::string_view to_string(Template disk_template) {
  return kTemplates[static_cast<std::size_t>(disk_template)];
}

bool uses_node_disk(Template disk_template) {
  return disk_template == Template::drbd || disk_template == Template::plain;
}

bool is_movable_single(Template disk_template) {
  return disk_template == Template::sharedfile || disk_template == Template::blockdev ||
         disk_template == Template::rbd || disk_template == Template::ext ||
         disk_template == Template::gluster;
}

std::vector<std::string_view> storage_types(Template disk_template) {
  switch (disk_template) {
    case Template::drbd:
      return {"drbd", "drbd8"};
    case Template::plain:
      return {"plain", "lvm-vg"};
    case Template::file:
      return {"file"};
    case Template::diskless:
      return {};
    case Template::sharedfile:
    case Template::blockdev:
    case Template::rbd:
    case Template::ext:
    case Template::gluster:
      return {};  // not on the node
  }
  return {};
}

bool uses_memory(const Instance& instance) {
  if (instance.is_forthcoming) return false;
  return instance.status != "ADMIN_down" && instance.status != "ADMIN_offline" &&
         instance.status != "ERROR_down" && instance.status != "USER_down";
}

bool is_switched_off(const Instance& instance) {
  return instance.status == "ADMIN_offline";
}

Result<std::vector<std::int32_t>> nodes_of_group(const Cluster& cluster, std::string_view name) {
  std::size_t group = 0;
  if (name.empty() && cluster.groups.size() > 1) {
    return fail(ErrorCode::invalid_argument, "the cluster has several node groups; name one");
  }
  if (!name.empty()) {
    const auto found =
        std::find_if(cluster.groups.begin(), cluster.groups.end(),
                     [&](const Group& g) { return g.name == name || g.uuid == name; });
    if (found == cluster.groups.end()) {
      return fail(ErrorCode::not_found, "there is no node group '" + std::string(name) + "'");
    }
    group = static_cast<std::size_t>(found - cluster.groups.begin());
  }
  std::vector<std::int32_t> out;
  for (std::size_t n = 0; n < cluster.nodes.size(); ++n) {
    if (cluster.nodes[n].group == group) out.push_back(static_cast<std::int32_t>(n));
  }
  return out;
}

}  // namespace fdbpack::place::htools
