// SPDX-License-Identifier: Apache-2.0
//
// One function for each command. What a change would break is refused here, whoever asks.
#include "fdbpack/cluster/ledger.hpp"

#include <algorithm>

namespace fdbpack::cluster {
namespace {

std::string name_of(const GroupKey& key) {
  return to_string(key.second);
}

// Changes on top of a ledger: what was changed already is read from the change.
class Decider {
 public:
  Decider(const Ledger& ledger, WallTime now, const std::string& by)
      : ledger_(ledger), now_(now), by_(by) {}

  Status decide(const PutSpec& command);
  Status decide(const DeleteCluster& command);
  Status decide(const AddGroups& command);
  Status decide(const RemoveGroup& command);
  Status decide(const KeepGroup& command);
  Status decide(const MarkExcluded& command);
  Status decide(const ForgetGroup& command);
  Status decide(const SetAddresses& command);
  Status decide(const SetConnectionString& command);
  Status decide(const SetPaused& command);
  Status decide(const SetDrained& command);

  LedgerChange take() { return std::move(change_); }

 private:
  Result<ClusterRecord> cluster(const std::string& name) const;
  Result<ProcessGroup> group(const GroupKey& key) const;
  Status add(const std::string& cluster_name, ClusterRecord& record, ProcessGroup group,
             const std::string& reason);
  Status check_slots(const ProcessGroup& group) const;
  HostRecord host(const std::string& name) const;
  void give_anew(const std::string& host);
  void give_anew_to_all(const std::string& cluster);
  void put(const GroupKey& key, ProcessGroup group);
  void say(const std::string& cluster, std::string subject, std::string what);

  const Ledger& ledger_;
  WallTime now_;
  const std::string& by_;
  LedgerChange change_;
};

Result<ClusterRecord> Decider::cluster(const std::string& name) const {
  const auto found = ledger_.clusters().find(name);
  if (found == ledger_.clusters().end()) {
    return fail(ErrorCode::not_found, "there is no cluster " + name);
  }
  return found->second;
}

Result<ProcessGroup> Decider::group(const GroupKey& key) const {
  const auto found = ledger_.groups().find(key);
  if (found == ledger_.groups().end()) {
    return fail(ErrorCode::not_found,
                "cluster " + key.first + " has no process group " + name_of(key));
  }
  return found->second;
}

HostRecord Decider::host(const std::string& name) const {
  if (const auto changed = change_.hosts.find(name); changed != change_.hosts.end()) {
    return changed->second.value_or(HostRecord{});
  }
  const auto found = ledger_.hosts().find(name);
  return found == ledger_.hosts().end() ? HostRecord{} : found->second;
}

// Once per change, however many of its groups are concerned.
void Decider::give_anew(const std::string& name) {
  if (name.empty()) return;
  const auto before = ledger_.hosts().find(name);
  HostRecord record = host(name);
  record.assignment = (before == ledger_.hosts().end() ? 0 : before->second.assignment) + 1;
  change_.hosts[name] = record;
}

void Decider::give_anew_to_all(const std::string& cluster) {
  for (const GroupKey& key : ledger_.groups_of(cluster))
    give_anew(ledger_.groups().at(key).host);
}

void Decider::put(const GroupKey& key, ProcessGroup group) {
  change_.groups[key] = std::move(group);
}

void Decider::say(const std::string& cluster, std::string subject, std::string what) {
  const std::uint64_t sequence = ledger_.last_event() + change_.events.size() + 1;
  change_.events.push_back({sequence, now_, by_, cluster, std::move(subject), std::move(what)});
}

Status Decider::decide(const PutSpec& command) {
  const std::string& name = command.spec.name;
  const auto before = ledger_.clusters().find(name);
  const std::uint64_t generation =
      before == ledger_.clusters().end() ? 0 : before->second.generation;
  if (command.expected && *command.expected != generation) {
    return fail(ErrorCode::conflict, "the spec of " + name + " has generation " +
                                         std::to_string(generation) + ", not " +
                                         std::to_string(*command.expected) +
                                         "; read it again and apply the change to that");
  }
  ClusterRecord record = generation == 0 ? ClusterRecord{} : before->second;
  if (generation != 0 && record.spec == command.spec) return {};
  record.spec = command.spec;
  record.generation = generation + 1;
  record.changed_at = now_;
  record.changed_by = by_;
  change_.clusters[name] = std::move(record);
  give_anew_to_all(name);
  say(name, "",
      generation == 0 ? "the cluster was created"
                      : "the spec was changed, generation " + std::to_string(generation + 1));
  return {};
}

Status Decider::decide(const DeleteCluster& command) {
  FDBPACK_TRY([[maybe_unused]] const auto record, cluster(command.cluster));
  const std::size_t left = ledger_.groups_of(command.cluster).size();
  if (left > 0) {
    return fail(ErrorCode::precondition, "cluster " + command.cluster + " has " +
                                             std::to_string(left) +
                                             " process groups; remove them before deleting it");
  }
  change_.clusters[command.cluster] = std::nullopt;
  say(command.cluster, "", "the cluster was deleted");
  return {};
}

Status Decider::check_slots(const ProcessGroup& group) const {
  const auto is_free = [&](const GroupKey& key, const ProcessGroup& other) -> Status {
    const bool is_apart = group.port_slot >= other.port_slot + other.servers_per_disk ||
                          other.port_slot >= group.port_slot + group.servers_per_disk;
    if (other.host != group.host || is_apart) return {};
    return fail(ErrorCode::conflict, "port slot " + std::to_string(group.port_slot) + " of host " +
                                         group.host + " is " + name_of(key) + "'s of cluster " +
                                         key.first);
  };
  for (const GroupKey& key : ledger_.groups_on(group.host)) {
    if (change_.groups.contains(key)) continue;
    if (auto status = is_free(key, ledger_.groups().at(key)); !status) return status;
  }
  for (const auto& [key, other] : change_.groups) {
    if (!other) continue;
    if (auto status = is_free(key, *other); !status) return status;
  }
  return {};
}

Status Decider::add(const std::string& cluster_name, ClusterRecord& record, ProcessGroup group,
                    const std::string& reason) {
  if (group.host.empty()) return fail(ErrorCode::invalid_argument, "a group needs a host");
  if (host(group.host).is_drained) {
    return fail(ErrorCode::precondition, "host " + group.host + " is being drained");
  }
  if (auto status = check_slots(group); !status) return status;
  auto& next = record.next_numbers[group.id.process_class];
  // Numbers start at 1. Those of groups that came from elsewhere are jumped over.
  next = std::max(next, 1u);
  group.id.number = next;
  while (ledger_.groups().contains({cluster_name, group.id}))
    group.id.number = ++next;
  ++next;
  group.created_at = now_;
  const GroupKey key{cluster_name, group.id};
  give_anew(group.host);
  say(cluster_name, name_of(key), "was given to host " + group.host + ": " + reason);
  put(key, std::move(group));
  return {};
}

Status Decider::decide(const AddGroups& command) {
  if (command.groups.empty()) return {};
  FDBPACK_TRY(auto record, cluster(command.cluster));
  for (const ProcessGroup& group : command.groups) {
    if (auto status = add(command.cluster, record, group, command.reason); !status) return status;
  }
  change_.clusters[command.cluster] = std::move(record);
  return {};
}

Status Decider::decide(const RemoveGroup& command) {
  FDBPACK_TRY(auto found, group(command.group));
  if (found.is_leaving() && found.data == command.data) return {};
  const bool is_new = !found.is_leaving();
  if (is_new) found.removal_at = now_;
  if (is_new) found.removal_reason = command.reason;
  found.data = command.data;
  say(command.group.first, name_of(command.group),
      std::string("is to be removed, its data ") +
          (command.data == DataPolicy::wipe ? "wiped" : "kept") + ": " + command.reason);
  put(command.group, std::move(found));
  return {};
}

Status Decider::decide(const KeepGroup& command) {
  FDBPACK_TRY(auto found, group(command.group));
  if (!found.is_leaving()) return {};
  if (found.exclusion_at) {
    return fail(ErrorCode::precondition,
                name_of(command.group) +
                    " is excluded and its data has moved away; it cannot be kept any more");
  }
  found.removal_at.reset();
  found.removal_reason.clear();
  found.data = DataPolicy::keep;
  say(command.group.first, name_of(command.group), "is kept after all");
  put(command.group, std::move(found));
  return {};
}

Status Decider::decide(const MarkExcluded& command) {
  FDBPACK_TRY(auto found, group(command.group));
  if (found.exclusion_at) return {};
  if (!found.is_leaving()) {
    return fail(ErrorCode::precondition, name_of(command.group) + " is not to be removed");
  }
  found.exclusion_at = now_;
  say(command.group.first, name_of(command.group), "is fully excluded");
  give_anew(found.host);  // its processes may stop
  put(command.group, std::move(found));
  return {};
}

Status Decider::decide(const ForgetGroup& command) {
  FDBPACK_TRY(auto found, group(command.group));
  if (!found.exclusion_at) {
    return fail(ErrorCode::precondition,
                name_of(command.group) + " is not known to be fully excluded");
  }
  give_anew(found.host);
  say(command.group.first, name_of(command.group), "is gone from host " + found.host);
  change_.groups[command.group] = std::nullopt;
  return {};
}

Status Decider::decide(const SetAddresses& command) {
  FDBPACK_TRY(auto found, group(command.group));
  auto addresses = addresses_after(found.addresses, command.seen,
                                   found.is_leaving() || command.is_database_down);
  if (addresses == found.addresses) return {};
  found.addresses = std::move(addresses);
  say(command.group.first, name_of(command.group), "has address " + found.addresses.back());
  put(command.group, std::move(found));
  return {};
}

Status Decider::decide(const SetConnectionString& command) {
  FDBPACK_TRY(auto record, cluster(command.cluster));
  if (record.connection_string == command.connection_string) return {};
  record.connection_string = command.connection_string;
  change_.clusters[command.cluster] = std::move(record);
  give_anew_to_all(command.cluster);
  say(command.cluster, "", "the connection string is " + command.connection_string);
  return {};
}

Status Decider::decide(const SetPaused& command) {
  FDBPACK_TRY(auto record, cluster(command.cluster));
  if (record.is_paused == command.is_paused && record.pause_reason == command.reason) return {};
  record.is_paused = command.is_paused;
  record.pause_reason = command.is_paused ? command.reason : "";
  change_.clusters[command.cluster] = std::move(record);
  say(command.cluster, "", command.is_paused ? "was paused: " + command.reason : "goes on");
  return {};
}

Status Decider::decide(const SetDrained& command) {
  HostRecord record = host(command.host);
  if (record.is_drained == command.is_drained) return {};
  record.is_drained = command.is_drained;
  record.drain_reason = command.is_drained ? command.reason : "";
  change_.hosts[command.host] = record;
  say("", command.host,
      command.is_drained ? "is drained: " + command.reason : "is drained no more");
  return {};
}

}  // namespace

Result<LedgerChange> Ledger::decide(const Command& command, WallTime now,
                                    const std::string& by) const {
  Decider decider(*this, now, by);
  auto status = std::visit([&](const auto& each) { return decider.decide(each); }, command);
  if (!status) return fail(std::move(status).error());
  return decider.take();
}

}  // namespace fdbpack::cluster
