// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/place/generate.hpp"

#include "fdbpack/base/random.hpp"
#include "fdbpack/place/fault_domains.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fdbpack::place {
namespace {

constexpr std::int64_t kDiskMib = 131072;

ClusterDemand make_cluster(const GenerateOptions& options, int index, int storage, int log) {
  ClusterDemand cluster;
  cluster.name = fmt::format("cluster-{}", index + 1);
  // What the few groups of a small fleet can keep.
  const int copies = std::min({options.hosts, log, storage > 0 ? storage : log});
  cluster.redundancy_mode = copies >= 3 ? "triple" : "single";
  cluster.distribution.is_enabled = options.domains > 0;
  cluster.distribution.desired_domains = options.domains;
  cluster.distribution.is_required = options.is_required;
  SetDemand set;
  set.count = storage;
  set.shape = {2000, 8192, 2, {{{"file", "nvme", {}}, kDiskMib}}};
  if (storage > 0) cluster.classes.push_back({"storage", {set}});
  set.count = log;
  set.shape = {2000, 8192, 1, {{{"file", "log", {}}, kDiskMib / 8}}};
  cluster.classes.push_back({"log", {set}});
  return cluster;
}

// Puts groups on random hosts the way years of growth do, without two domains on one host.
class Scatter {
 public:
  Scatter(Fleet& fleet, const GenerateOptions& options)
      : fleet_(fleet),
        random_(options.seed),
        slots_(fleet.hosts.size()),
        loads_(fleet.hosts.size()) {}

  void place(const ClusterDemand& cluster, const ClassDemand& demand) {
    const SetDemand& set = demand.sets.front();
    const int domains = cluster.distribution.is_enabled ? cluster.distribution.desired_domains : 0;
    const std::size_t offset = random_.below(fleet_.hosts.size());
    for (int i = 0; i < set.count; ++i) {
      const std::size_t host = pick(domains, i, offset);
      Group group;
      group.id = fmt::format("{}-{}", demand.process_class, i + 1);
      group.cluster = cluster.name;
      group.process_class = demand.process_class;
      group.host = fleet_.hosts[host].id;
      if (domains > 0) group.fault_domain = domain_name(demand.process_class, i % domains);
      group.cpu_milli = set.shape.cpu_milli;
      group.memory_mib = set.shape.memory_mib;
      group.servers = set.shape.servers;
      group.port_slot = slots_[host];
      slots_[host] += group.servers;
      ++loads_[host];
      const DiskWish& wish = set.shape.disks.front();
      const std::int64_t used = random_.between(wish.size_mib / 4, wish.size_mib * 3 / 4);
      group.disks.push_back({wish.kind, wish.size_mib, used});
      for (Unit& unit : fleet_.hosts[host].units) {
        if (unit.kind == wish.kind) unit.free_mib -= used;
      }
      fleet_.groups.push_back(std::move(group));
    }
  }

 private:
  // With domains, host h serves only domain (h + offset) mod domains of the class.
  std::size_t pick(int domains, int i, std::size_t offset) {
    const auto hosts = fleet_.hosts.size();
    const auto step = domains > 0 ? static_cast<std::size_t>(domains) : std::size_t{1};
    const std::size_t first =
        domains > 0 ? (static_cast<std::size_t>(i % domains) + offset) % step : 0;
    const std::size_t choices = (hosts - first + step - 1) / step;
    std::size_t host = first + step * random_.below(choices);
    // Three copies have three homes from the start.
    if (domains == 0 && i < 3) host = (offset + static_cast<std::size_t>(i)) % hosts;
    for (std::size_t tries = 0; loads_[host] >= 14 && tries < choices; ++tries) {
      host = host + step < hosts ? host + step : first;
    }
    return host;
  }

  Fleet& fleet_;
  Random random_;
  std::vector<int> slots_;
  std::vector<int> loads_;
};

Status check(int hosts, int per_host) {
  if (hosts < 1 || hosts > 1'000'000)
    return fail(ErrorCode::invalid_argument, "hosts must be 1 to 1000000");
  if (per_host < 0 || per_host > 12)
    return fail(ErrorCode::invalid_argument, "groups per host must be 0 to 12");
  return {};
}

}  // namespace

Result<Fleet> generate_fleet(const GenerateOptions& options) {
  FDBPACK_TRY_VOID(check(options.hosts, options.groups_per_host));
  if (options.clusters < 1 || options.clusters > options.hosts) {
    return fail(ErrorCode::invalid_argument, "clusters must be 1 to the number of hosts");
  }
  if (options.domains < 0 || options.domains > options.hosts) {
    return fail(ErrorCode::invalid_argument, "domains must be 0 to the number of hosts");
  }
  if (options.azs < 0 || options.azs > options.hosts)
    return fail(ErrorCode::invalid_argument, "azs must be 1 to the number of hosts");
  const int azs = options.azs == 0 ? std::min(3, options.hosts) : options.azs;
  if (options.hosts_per_rack < 1)
    return fail(ErrorCode::invalid_argument, "hosts per rack must be 1 or more");
  Fleet fleet;
  for (int h = 0; h < options.hosts; ++h) {
    Host host;
    host.id = fmt::format("db-{}", h + 1);
    host.cpu_milli = 64000;
    host.memory_mib = 262144;
    host.units.push_back({{"file", "log", {}}, 524288, 524288});
    host.units.push_back({{"file", "nvme", {}}, 4 << 20, 4 << 20});
    host.labels["az"] = fmt::format("az-{}", h % azs + 1);
    host.labels["rack"] = fmt::format("rack-{}", h / options.hosts_per_rack + 1);
    fleet.hosts.push_back(std::move(host));
  }
  const int storage = options.groups_per_host == 0
                          ? 0
                          : std::max(1, options.hosts * options.groups_per_host / options.clusters);
  const int log = std::max(3, options.hosts / 4 / options.clusters);
  for (int c = 0; c < options.clusters; ++c) {
    fleet.clusters.push_back(make_cluster(options, c, storage, std::min(log, options.hosts)));
  }
  if (!options.is_placed) return fleet;
  Scatter scatter(fleet, options);
  for (const ClusterDemand& cluster : fleet.clusters) {
    for (const ClassDemand& demand : cluster.classes)
      scatter.place(cluster, demand);
  }
  return fleet;
}

Result<htools::Cluster> generate_htools(int nodes, int instances_per_node, std::uint64_t seed) {
  FDBPACK_TRY_VOID(check(nodes, instances_per_node));
  Random random(seed);
  htools::Cluster cluster;
  cluster.groups.push_back({"default", "uuid-default", "preferred", {}});
  cluster.groups[0].policy.templates = cluster.policy.templates = {"ext", "plain", "diskless"};
  for (int n = 0; n < nodes; ++n) {
    htools::Node node;
    node.name = fmt::format("node-{:05}", n + 1);
    node.total_memory = 131072;
    node.node_memory = 1024;
    node.free_memory = 131072 - 1024;
    node.total_disk = 6291456;
    node.free_disk = 6291456;
    node.cores = 32;
    node.is_master = n == 0;
    cluster.nodes.push_back(std::move(node));
  }
  for (int i = 0; i < nodes * instances_per_node; ++i) {
    htools::Instance instance;
    instance.name = fmt::format("inst-{:06}", i + 1);
    instance.memory = 1024 * random.between(4, 16);
    instance.disk = 1024 * random.between(128, 512);
    instance.vcpus = random.between(2, 4);
    instance.status = "running";
    instance.disk_template = htools::Template::ext;
    auto node = random.below(cluster.nodes.size());
    while (cluster.nodes[node].free_memory <= instance.memory)
      node = random.below(cluster.nodes.size());
    cluster.nodes[node].free_memory -= instance.memory;
    instance.primary = static_cast<std::int32_t>(node);
    cluster.instances.push_back(std::move(instance));
  }
  return cluster;
}

}  // namespace fdbpack::place
